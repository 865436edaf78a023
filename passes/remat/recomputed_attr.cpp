// A dictionary, so that it can be read in printed plans.
#include "passes/remat/recomputed_attr.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

static std::string describe(Operation* instruction) {
  if (auto collective = dyn_cast<plan::CollectiveOp>(instruction))
    return ::sgd::comm::CollectiveName(collective.getKind());
  return isa<plan::LaunchOp>(instruction) ? "kernel" : instruction->getName().stripDialect().str();
}

void mlir::sgd::setRecomputed(Operation* instruction, uint64_t freedBytes, double seconds) {
  Builder builder(instruction->getContext());
  instruction->setAttr(
      kRecomputedAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("freed_bytes", builder.getI64IntegerAttr(static_cast<int64_t>(freedBytes))),
           builder.getNamedAttr("seconds", builder.getF64FloatAttr(seconds))}));
}

std::optional<Recomputed> mlir::sgd::getRecomputed(Operation* instruction) {
  auto fields = instruction->getAttrOfType<DictionaryAttr>(kRecomputedAttr);
  auto bytes = fields ? fields.getAs<IntegerAttr>("freed_bytes") : IntegerAttr();
  auto seconds = fields ? fields.getAs<FloatAttr>("seconds") : FloatAttr();
  if (!bytes || !seconds) return std::nullopt;
  return Recomputed{describe(instruction), static_cast<uint64_t>(bytes.getInt()), seconds.getValueAsDouble()};
}
