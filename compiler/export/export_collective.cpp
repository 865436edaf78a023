// Operands with the factors that their kind of collective needs: elements before and from a dimension on, tiles,
// ranges.
#include "compiler/export/export_enums.h"
#include "compiler/export/export_interface.h"
#include "compiler/export/export_program.h"

#include "dialects/spmd/spmd_dialect.h"
#include "passes/spmd/partition/reshard_emitter.h"
#include "passes/timing/sized_exchange.h"
#include "runtime/comm/collectives/sent_bytes.h"

using namespace mlir;
using namespace mlir::sgd;
using ::sgd::comm::TargetForm;

/// Elements before and from dimension `dim` on.
static std::pair<uint64_t, uint64_t> splitAt(ArrayRef<int64_t> shape, int64_t dim) {
  uint64_t outer = 1, inner = 1;
  for (auto [index, size] : llvm::enumerate(shape)) (static_cast<int64_t>(index) < dim ? outer : inner) *= size;
  return {outer, inner};
}

static bool isUnsignedReduction(plan::CollectiveOp collective) {
  return collective.getReduce() == ReduceKind::UMax || collective.getReduce() == ReduceKind::UMin;
}

static FailureOr<artifact::ReduceKind> getReduceKind(plan::CollectiveOp collective) {
  if (!collective.getReduce()) return artifact::ReduceKind::Add;
  switch (*collective.getReduce()) {
    case ReduceKind::Add:
      return artifact::ReduceKind::Add;
    case ReduceKind::Mul:
      return artifact::ReduceKind::Mul;
    case ReduceKind::Max:
    case ReduceKind::UMax:
      return artifact::ReduceKind::Max;
    case ReduceKind::Min:
    case ReduceKind::UMin:
      return artifact::ReduceKind::Min;
    case ReduceKind::And:
      return artifact::ReduceKind::And;
    case ReduceKind::Or:
      return artifact::ReduceKind::Or;
    case ReduceKind::Xor:
      break;
  }
  return collective.emitOpError("between ranks is not supported for 'xor'");
}

static void fillRange(RangeAttr attribute, MemRefType from, MemRefType to, artifact::CollectiveOperandT& operand) {
  int64_t dim = attribute.getDim();
  operand.outer = splitAt(from.getShape(), dim).first;
  operand.inner = splitAt(from.getShape(), dim + 1).second;
  auto range = std::make_unique<artifact::TileRangeT>();
  range->size = attribute.getSize();
  range->tile = from.getDimSize(dim);
  range->length = to.getDimSize(dim);
  range->scale = attribute.getScale();
  range->offset = attribute.getOffset();
  range->divisor = attribute.getDivisor();
  range->step = attribute.getStep();
  operand.range = std::move(range);
}

static FailureOr<std::unique_ptr<artifact::CollectiveOperandT>> getOperand(plan::CollectiveOp collective,
                                                                           unsigned index, SliceExporter& slices) {
  Value source = collective.getSources()[index], target = collective.getTargets()[index];
  auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(target.getType());
  auto element = getElementType(from.getElementType(), isUnsignedReduction(collective));
  if (!element) return collective.emitOpError("has an element type that artifacts do not have");
  auto operand = std::make_unique<artifact::CollectiveOperandT>();
  operand->element = *element;
  operand->source = slices.getOwned(source);
  operand->target = slices.getOwned(target);
  operand->count = from.getNumElements();
  ArrayRef<int64_t> dims = collective.getDims();
  switch (::sgd::comm::TraitsOf(collective.getKind()).target) {
    case TargetForm::kSame:
      break;
    case TargetForm::kGathered:
      std::tie(operand->outer, operand->inner) = splitAt(from.getShape(), dims[index]);
      break;
    case TargetForm::kScattered:
      std::tie(operand->outer, operand->inner) = splitAt(to.getShape(), dims[index]);
      break;
    case TargetForm::kExchanged:
      operand->dims.assign(from.getShape().begin(), from.getShape().end());
      operand->split = dims[0];
      operand->concat = dims[1];
      break;
    case TargetForm::kRange:
      fillRange(cast<RangeAttr>((*collective.getRanges())[index]), from, to, *operand);
      break;
  }
  return operand;
}

namespace {

struct CollectiveExport : ExportOpInterface::ExternalModel<CollectiveExport, plan::CollectiveOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto collective = cast<plan::CollectiveOp>(op);
    artifact::CollectiveT target;
    target.kind = static_cast<artifact::CollectiveKind>(collective.getKind());
    FailureOr<artifact::ReduceKind> reduce = getReduceKind(collective);
    if (failed(reduce)) return failure();
    target.reduce = *reduce;
    target.axes = getAxisRefs(collective.getAxes().getAxes(), operands.mesh);
    if (collective.getFrom()) target.from_axes = getAxisRefs(collective.getFrom()->getAxes(), operands.mesh);
    if (collective.getTo()) target.to_axes = getAxisRefs(collective.getTo()->getAxes(), operands.mesh);
    for (unsigned index = 0; index < collective.getSources().size(); ++index) {
      FailureOr<std::unique_ptr<artifact::CollectiveOperandT>> operand = getOperand(collective, index, operands.slices);
      if (failed(operand)) return failure();
      target.operands.push_back(std::move(*operand));
    }
    if (collective.getStaging()) target.staging = operands.slices.getOwned(collective.getStaging());
    target.starts = static_cast<bool>(collective.getToken());
    instruction.op.Set(std::move(target));
    return success();
  }
};

}  // namespace

void mlir::sgd::registerCollectiveExports(MLIRContext& context) {
  plan::CollectiveOp::attachInterface<CollectiveExport>(context);
}

int64_t mlir::sgd::getGroupSize(plan::CollectiveOp collective) {
  return spmd::getGroupSize(collective, collective.getAxes()).value_or(1);
}

uint64_t mlir::sgd::getSentBytes(plan::CollectiveOp collective) { return getSizedExchange(collective).getSentBytes(); }

uint64_t mlir::sgd::getSentBytes(plan::InstructionOpInterface instruction) {
  if (auto send = dyn_cast<plan::SendOp>(instruction.getOperation())) return getByteSize(send.getSource().getType());
  auto collective = dyn_cast<plan::CollectiveOp>(instruction.getOperation());
  return collective ? getSentBytes(collective) : 0;
}
