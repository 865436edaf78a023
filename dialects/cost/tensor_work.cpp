// Ops that make or move elements, combine them along dimensions, or put them in order.
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/sgd/views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

static Precision precisionOf(Value value) { return getPrecision(tensorType(value).getElementType()); }

namespace {
/// An op that computes nothing, and reads no more than it writes. A view writes nothing.
template <typename Op>
struct MoveWork : CostOpInterface::ExternalModel<MoveWork<Op>, Op> {
  Work getWork(Operation* op) const {
    Work work = getMoves(op->getOperands(), op->getResults());
    work.readBytes = std::min(work.readBytes, work.writtenBytes);
    if (getViewByteOffset(op)) work.writtenBytes = 0;
    return work;
  }
  bool isFused(Operation*) const { return true; }
};

/// Updates in place.
struct UpdateWork : CostOpInterface::ExternalModel<UpdateWork, DynamicUpdateSliceOp> {
  Work getWork(Operation* op) const {
    Value update = cast<DynamicUpdateSliceOp>(op).getUpdate();
    return getMoves(update, update);
  }
  bool isFused(Operation*) const { return true; }
};

/// Combines updates in place, one after the other.
struct ScatterWork : CostOpInterface::ExternalModel<ScatterWork, ScatterOp> {
  Work getWork(Operation* op) const {
    auto scatter = cast<ScatterOp>(op);
    Work work = getMoves({scatter.getInput(), scatter.getIndices(), scatter.getUpdates()}, op->getResults());
    return work.add(OperationKind::Vector, precisionOf(scatter.getUpdates()), countElements(scatter.getUpdates()));
  }
};

/// Combines each element once.
template <typename Op>
struct CombineWork : CostOpInterface::ExternalModel<CombineWork<Op>, Op> {
  Work getWork(Operation* op) const {
    Value input = cast<Op>(op).getInput();
    return getMoves(op->getOperands(), op->getResults())
        .add(OperationKind::Vector, precisionOf(input), countElements(input));
  }
  bool isFused(Operation*) const { return std::is_same_v<Op, ReduceOp>; }
};

struct SortWork : CostOpInterface::ExternalModel<SortWork, SortOp> {
  Work getWork(Operation* op) const {
    auto sort = cast<SortOp>(op);
    Value first = sort.getInputs().front();
    auto comparison = static_cast<int64_t>(sort.getComparator().front().getOperations().size());
    double operations =
        getSortOperations(countElements(first), tensorType(first).getDimSize(static_cast<int64_t>(sort.getDimension())),
                          comparison, op->getNumOperands());
    return getMoves(op->getOperands(), op->getResults()).add(OperationKind::Vector, precisionOf(first), operations);
  }
};

/// A comparison with the least of those that are kept, and most of the time no more.
struct TopKWork : CostOpInterface::ExternalModel<TopKWork, TopKOp> {
  Work getWork(Operation* op) const {
    Value input = cast<TopKOp>(op).getInput();
    return getMoves(op->getOperands(), op->getResults())
        .add(OperationKind::Vector, precisionOf(input), 2 * countElements(input));
  }
};

/// Equal elements are filled in where something needs them in memory; others come with the artifact.
struct ConstantWork : CostOpInterface::ExternalModel<ConstantWork, arith::ConstantOp> {
  Work getWork(Operation* op) const {
    bool isFilled = isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return isFilled ? getMoves({}, op->getResults()) : Work();
  }
  bool isFused(Operation*) const { return true; }
};

/// Its results are its operands.
struct BarrierWork : CostOpInterface::ExternalModel<BarrierWork, OptimizationBarrierOp> {
  Work getWork(Operation* op) const { return getMoves(op->getOperands(), {}); }
  bool isFused(Operation*) const { return true; }
};
}  // namespace

template <typename Op>
static void attachIfMoving(MLIRContext* context) {
  if constexpr (Op::template hasTrait<MovesElements>() && !Op::template hasTrait<OpTrait::Elementwise>())
    Op::template attachInterface<MoveWork<Op>>(*context);
}

template <typename... Ops>
static void attachToMoving(MLIRContext* context) {
  (attachIfMoving<Ops>(context), ...);
}

void mlir::sgd::registerTensorWork(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, arith::ArithDialect*) { arith::ConstantOp::attachInterface<ConstantWork>(*context); });
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachToMoving<
#define GET_OP_LIST
#include "dialects/sgd/sgd_ops.cpp.inc"
        >(context);
    IotaOp::attachInterface<MoveWork<IotaOp>>(*context);
    DynamicSliceOp::attachInterface<MoveWork<DynamicSliceOp>>(*context);
    GatherOp::attachInterface<MoveWork<GatherOp>>(*context);
    DynamicUpdateSliceOp::attachInterface<UpdateWork>(*context);
    ScatterOp::attachInterface<ScatterWork>(*context);
    ReduceOp::attachInterface<CombineWork<ReduceOp>>(*context);
    CumulativeOp::attachInterface<CombineWork<CumulativeOp>>(*context);
    SortOp::attachInterface<SortWork>(*context);
    TopKOp::attachInterface<TopKWork>(*context);
    OptimizationBarrierOp::attachInterface<BarrierWork>(*context);
  });
}
