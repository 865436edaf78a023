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

DictionaryAttr RecomputedInLoop::toAttr(MLIRContext* context) const {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("flops", builder.getI64IntegerAttr(static_cast<int64_t>(flops))),
       builder.getNamedAttr("freed_bytes", builder.getI64IntegerAttr(static_cast<int64_t>(freedBytes))),
       builder.getNamedAttr("seconds", builder.getF64FloatAttr(seconds)),
       builder.getNamedAttr("sent_bytes", builder.getI64IntegerAttr(static_cast<int64_t>(sentBytes))),
       builder.getNamedAttr("source", builder.getStringAttr(source)),
       builder.getNamedAttr("what", builder.getStringAttr(what))});
}

std::optional<RecomputedInLoop> RecomputedInLoop::fromAttr(Attribute attribute) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!fields) return std::nullopt;
  auto flops = fields.getAs<IntegerAttr>("flops"), bytes = fields.getAs<IntegerAttr>("freed_bytes"),
       sent = fields.getAs<IntegerAttr>("sent_bytes");
  auto seconds = fields.getAs<FloatAttr>("seconds");
  auto source = fields.getAs<StringAttr>("source"), what = fields.getAs<StringAttr>("what");
  if (!flops || !bytes || !sent || !seconds || !source || !what) return std::nullopt;
  auto toUnsigned = [](IntegerAttr number) { return static_cast<uint64_t>(number.getInt()); };
  return RecomputedInLoop{what.str(),        source.str(),     toUnsigned(bytes),
                          toUnsigned(flops), toUnsigned(sent), seconds.getValueAsDouble()};
}

SmallVector<RecomputedInLoop, 0> mlir::sgd::getRecomputedInLoops(func::FuncOp function) {
  SmallVector<RecomputedInLoop, 0> list;
  auto records = function->getAttrOfType<ArrayAttr>(kRecomputedInLoopsAttr);
  for (Attribute record : records ? records.getValue() : ArrayRef<Attribute>())
    if (auto one = RecomputedInLoop::fromAttr(record)) list.push_back(std::move(*one));
  return list;
}
