// The pass sgd-find-batching: components of index vectors that count along a dimension of the indices.
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FINDBATCHINGPASS
#include "passes/sharding/propagation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static bool isZero(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) value = broadcast.getInput();
  SplatElementsAttr splat = getSplatElements(value);
  return splat && splat.getSplatValue<APInt>().isZero();
}

/// True when each element of `value` is its index along `dim`. Looks through what JAX does to any index: negative ones
/// count from the end.
static bool countsAlong(Value value, int64_t dim) {
  Operation* op = value.getDefiningOp();
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) return static_cast<int64_t>(iota.getDimension()) == dim;
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, ShardingConstraintOp>(op))
    return countsAlong(op->getOperand(0), dim);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    auto test = select.getCondition().getDefiningOp<arith::CmpIOp>();
    return test && test.getPredicate() == arith::CmpIPredicate::slt && test.getLhs() == select.getFalseValue() &&
           isZero(test.getRhs()) && countsAlong(select.getFalseValue(), dim);
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op)) {
    for (auto [from, to] : llvm::enumerate(broadcast.getDims()))
      if (to == dim)
        return tensorType(broadcast.getInput()).getDimSize(from) == tensorType(value).getDimSize(dim) &&
               countsAlong(broadcast.getInput(), from);
    return false;
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
    // Only dimensions of size 1 come or go.
    RankedTensorType from = tensorType(reshape.getInput()), to = tensorType(value);
    auto isLarge = [](int64_t size) { return size != 1; };
    if (!llvm::equal(llvm::make_filter_range(from.getShape(), isLarge),
                     llvm::make_filter_range(to.getShape(), isLarge)))
      return false;
    int64_t position = llvm::count_if(to.getShape().take_front(dim), isLarge);
    for (auto [source, size] : llvm::enumerate(from.getShape()))
      if (isLarge(size) && position-- == 0) return countsAlong(reshape.getInput(), source);
  }
  return false;
}

namespace {
/// Index vectors as the parts they were joined from, one component each.
struct Components {
  SmallVector<Value> parts;

  /// Empty when the vectors were made otherwise.
  Components(Value indices, int64_t vectorDim) {
    auto concatenate = indices.getDefiningOp<ConcatenateOp>();
    if (!concatenate || static_cast<int64_t>(concatenate.getDimension()) != vectorDim) return;
    for (Value part : concatenate.getInputs())
      if (tensorType(part).getDimSize(vectorDim) != 1) return;
    llvm::append_range(parts, concatenate.getInputs());
  }
};

/// Component `component`, which indexes dimension `operandDim`, counts along dimension `indicesDim`.
struct Found {
  unsigned component;
  int64_t operandDim, indicesDim;
};
}  // namespace

/// A component that indexes a dimension of `candidates`, of the same size as the dimension of the indices along which
/// it counts. At least one other component must remain.
static std::optional<Found> findCounting(const Components& components, ArrayRef<int64_t> indexMap,
                                         ArrayRef<int64_t> candidates, ArrayRef<int64_t> batching, int64_t vectorDim,
                                         ArrayRef<int64_t> operandShape) {
  if (components.parts.size() < 2) return std::nullopt;
  for (auto [component, part] : llvm::enumerate(components.parts)) {
    if (!llvm::is_contained(candidates, indexMap[component])) continue;
    for (auto [dim, size] : llvm::enumerate(tensorType(part).getShape())) {
      auto indicesDim = static_cast<int64_t>(dim);
      if (indicesDim == vectorDim || size < 2 || size != operandShape[indexMap[component]] ||
          llvm::is_contained(batching, indicesDim) || !countsAlong(part, indicesDim))
        continue;
      return Found{static_cast<unsigned>(component), indexMap[component], indicesDim};
    }
  }
  return std::nullopt;
}

static Value createWithout(OpBuilder& builder, Location loc, Components components, unsigned removed,
                           int64_t vectorDim) {
  components.parts.erase(components.parts.begin() + removed);
  if (components.parts.size() == 1) return components.parts[0];
  SmallVector<int64_t> shape(tensorType(components.parts[0]).getShape());
  shape[vectorDim] = components.parts.size();
  return ConcatenateOp::create(builder, loc, tensorType(components.parts[0]).clone(shape), components.parts, vectorDim);
}

static SmallVector<int64_t> without(ArrayRef<int64_t> list, int64_t removed) {
  return llvm::filter_to_vector(list, [&](int64_t value) { return value != removed; });
}

static SmallVector<int64_t> with(ArrayRef<int64_t> list, int64_t added) {
  SmallVector<int64_t> result(list);
  result.push_back(added);
  return result;
}

/// True when a component was found and is gone.
static bool rewrite(GatherOp op) {
  int64_t vectorDim = op.getIndexVectorDim();
  Components components(op.getIndices(), vectorDim);
  auto found = findCounting(components, op.getStartIndexMap(), op.getCollapsedSliceDims(), op.getIndicesBatchingDims(),
                            vectorDim, tensorType(op.getInput()).getShape());
  if (!found) return false;
  OpBuilder builder(op);
  op.getIndicesMutable().assign(createWithout(builder, op.getLoc(), components, found->component, vectorDim));
  op.setStartIndexMap(without(op.getStartIndexMap(), found->operandDim));
  op.setCollapsedSliceDims(without(op.getCollapsedSliceDims(), found->operandDim));
  op.setOperandBatchingDims(with(op.getOperandBatchingDims(), found->operandDim));
  op.setIndicesBatchingDims(with(op.getIndicesBatchingDims(), found->indicesDim));
  return true;
}

static bool rewrite(ScatterOp op) {
  int64_t vectorDim = op.getIndexVectorDim();
  Components components(op.getIndices(), vectorDim);
  auto found = findCounting(components, op.getScatterDimsToOperandDims(), op.getInsertedWindowDims(),
                            op.getIndicesBatchingDims(), vectorDim, tensorType(op.getInput()).getShape());
  if (!found) return false;
  OpBuilder builder(op);
  op.getIndicesMutable().assign(createWithout(builder, op.getLoc(), components, found->component, vectorDim));
  op.setScatterDimsToOperandDims(without(op.getScatterDimsToOperandDims(), found->operandDim));
  op.setInsertedWindowDims(without(op.getInsertedWindowDims(), found->operandDim));
  op.setInputBatchingDims(with(op.getInputBatchingDims(), found->operandDim));
  op.setIndicesBatchingDims(with(op.getIndicesBatchingDims(), found->indicesDim));
  return true;
}

namespace {
struct FindBatchingPass : mlir::sgd::impl::FindBatchingPassBase<FindBatchingPass> {
  using FindBatchingPassBase::FindBatchingPassBase;

  void runOnOperation() override {
    getOperation()->walk([](Operation* op) {
      if (auto gather = dyn_cast<GatherOp>(op))
        while (rewrite(gather));
      else if (auto scatter = dyn_cast<ScatterOp>(op))
        while (rewrite(scatter));
    });
  }
};
}  // namespace
