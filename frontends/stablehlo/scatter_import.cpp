// Lowers scatter: as scatters of single tensors where the body combines each of them by one op, else by applying the
// body to what is at the indices.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/region_ops.h"

using namespace mlir;
using namespace mlir::sgd;

/// Updates that may meet are applied one after another, up to so many.
static constexpr int64_t kMostUpdates = 256;

namespace {

/// How the body combines operand `index` of `count`, where it is one op or the update itself.
std::optional<ScatterKind> matchUpdate(Block& body, unsigned index, unsigned count) {
  if (skipConstraints(body.getTerminator()->getOperand(index)) == body.getArgument(index + count))
    return ScatterKind::Set;
  std::optional<ReduceKind> kind = matchCombiner(body, index, count);
  return kind ? symbolizeScatterKind(stringifyReduceKind(*kind)) : std::nullopt;
}

/// A scatter with its operands.
class Scatter {
 public:
  explicit Scatter(OpLowering& l)
      : l(l),
        op(cast<stablehlo::ScatterOp>(l.op)),
        dims(op.getScatterDimensionNumbers()),
        count(op.getInputs().size()) {}

  /// Each tensor by itself; false where the body is not a combination by single ops.
  bool scatterByKinds();

  /// The elements that the updates replace, in the updates' shape: windows that are not inside are clamped.
  SmallVector<Value> gather();
  /// `updates` replace what is there.
  void replace(ArrayRef<Value> updates);

  /// Number of windows that are scattered.
  int64_t getNumWindows();

  /// One window: where it begins in each dimension of the inputs, and whether it is inside.
  struct Window {
    SmallVector<Value> starts;
    Value isInside;
  };
  Window getWindow(int64_t number);
  SmallVector<Value> getWindowUpdates(int64_t number);
  SmallVector<int64_t> getWindowShape();

  Value indices() const { return l.operands[count]; }
  Value updates(unsigned index) const { return l.operands[count + 1 + index]; }

  OpLowering& l;
  stablehlo::ScatterOp op;
  stablehlo::ScatterDimensionNumbersAttr dims;
  unsigned count;

 private:
  bool isUnsigned() { return l.getElementType(count).isUnsignedInteger(); }
  Value create(unsigned index, Value update, ScatterKind kind) {
    return l.create<ScatterOp>(l.getResultType(index), l.operands[index], indices(), update, kind,
                               dims.getUpdateWindowDims(), dims.getInsertedWindowDims(), dims.getInputBatchingDims(),
                               dims.getScatterIndicesBatchingDims(), dims.getScatterDimsToOperandDims(),
                               dims.getIndexVectorDim(), isUnsigned(), op.getUniqueIndices());
  }
  /// Sizes of the dimensions of the updates that number the windows.
  SmallVector<int64_t> getBatchShape();
  SmallVector<int64_t> getBatchIndex(int64_t number);
};

bool Scatter::scatterByKinds() {
  SmallVector<ScatterKind> kinds;
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ScatterKind> kind = matchUpdate(op.getUpdateComputation().front(), i, count);
    if (!kind) return false;
    kinds.push_back(*kind);
  }
  for (unsigned i = 0; i < count; ++i) l.results.push_back(create(i, updates(i), kinds[i]));
  return true;
}

SmallVector<int64_t> Scatter::getWindowShape() {
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (int64_t dim = 0; dim < l.getOperandType().getRank(); ++dim) {
    bool isMissing =
        llvm::is_contained(dims.getInsertedWindowDims(), dim) || llvm::is_contained(dims.getInputBatchingDims(), dim);
    shape.push_back(isMissing ? 1 : tensorType(updates(0)).getDimSize(dims.getUpdateWindowDims()[next++]));
  }
  return shape;
}

SmallVector<Value> Scatter::gather() {
  SmallVector<Value> found;
  for (unsigned i = 0; i < count; ++i)
    found.push_back(l.create<GatherOp>(tensorType(updates(i)), l.operands[i], indices(), dims.getUpdateWindowDims(),
                                       dims.getInsertedWindowDims(), dims.getInputBatchingDims(),
                                       dims.getScatterIndicesBatchingDims(), dims.getScatterDimsToOperandDims(),
                                       dims.getIndexVectorDim(), getWindowShape(), isUnsigned()));
  return found;
}

void Scatter::replace(ArrayRef<Value> updates) {
  for (unsigned i = 0; i < count; ++i) l.results.push_back(create(i, updates[i], ScatterKind::Set));
}

SmallVector<int64_t> Scatter::getBatchShape() {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(tensorType(updates(0)).getShape()))
    if (!llvm::is_contained(dims.getUpdateWindowDims(), static_cast<int64_t>(dim))) shape.push_back(size);
  return shape;
}

int64_t Scatter::getNumWindows() {
  int64_t windows = 1;
  for (int64_t size : getBatchShape()) windows *= size;
  return windows;
}

SmallVector<int64_t> Scatter::getBatchIndex(int64_t number) {
  SmallVector<int64_t> shape = getBatchShape(), index(shape.size());
  for (auto [position, size] : llvm::reverse(llvm::zip(index, shape))) {
    position = number % size;
    number /= size;
  }
  return index;
}

Scatter::Window Scatter::getWindow(int64_t number) {
  SmallVector<int64_t> batch = getBatchIndex(number), shape = getWindowShape();
  RankedTensorType scalar = RankedTensorType::get({}, l.builder.getI64Type()), from = tensorType(indices());
  auto constant = [&](int64_t value) { return l.splat(scalar, APInt(64, value, /*isSigned=*/true)); };
  SmallVector<int64_t> indexAt(batch);
  bool hasVectors = dims.getIndexVectorDim() < from.getRank();
  if (hasVectors) indexAt.insert(indexAt.begin() + dims.getIndexVectorDim(), 0);
  auto component = [&](int64_t which) {
    Value value = indices();
    if (hasVectors) indexAt[dims.getIndexVectorDim()] = which;
    for (auto [dim, position] : llvm::enumerate(indexAt)) value = l.takeEvery(value, dim, position, 1, 1);
    value = l.create<ReshapeOp>(RankedTensorType::get({}, from.getElementType()), value);
    if (from.getElementTypeBitWidth() == 64)
      return isUnsigned() ? l.create<arith::MinUIOp>(value, constant(std::numeric_limits<int64_t>::max())) : value;
    return isUnsigned() ? l.create<arith::ExtUIOp>(scalar, value) : l.create<arith::ExtSIOp>(scalar, value);
  };
  Window window;
  for (int64_t dim = 0; dim < l.getOperandType().getRank(); ++dim) {
    int64_t last = l.getOperandType().getDimSize(dim) - shape[dim];
    const auto* indexed = llvm::find(dims.getScatterDimsToOperandDims(), dim);
    const auto* batching = llvm::find(dims.getInputBatchingDims(), dim);
    if (batching != dims.getInputBatchingDims().end()) {
      int64_t indexDim = dims.getScatterIndicesBatchingDims()[batching - dims.getInputBatchingDims().begin()];
      window.starts.push_back(constant(batch[indexDim > dims.getIndexVectorDim() ? indexDim - 1 : indexDim]));
      continue;
    }
    if (indexed == dims.getScatterDimsToOperandDims().end()) {
      window.starts.push_back(constant(0));
      continue;
    }
    Value start = component(indexed - dims.getScatterDimsToOperandDims().begin());
    window.starts.push_back(start);
    for (Value test : {l.create<arith::CmpIOp>(arith::CmpIPredicate::sge, start, constant(0)),
                       l.create<arith::CmpIOp>(arith::CmpIPredicate::sle, start, constant(last))})
      window.isInside = window.isInside ? l.create<arith::AndIOp>(window.isInside, test) : test;
  }
  return window;
}

SmallVector<Value> Scatter::getWindowUpdates(int64_t number) {
  SmallVector<int64_t> batch = getBatchIndex(number);
  SmallVector<Value> taken;
  for (unsigned i = 0; i < count; ++i) {
    Value value = updates(i);
    unsigned next = 0;
    for (int64_t dim = 0; dim < tensorType(updates(i)).getRank(); ++dim)
      if (!llvm::is_contained(dims.getUpdateWindowDims(), dim)) value = l.takeEvery(value, dim, batch[next++], 1, 1);
    taken.push_back(l.create<ReshapeOp>(tensorType(value).clone(getWindowShape()), value));
  }
  return taken;
}

}  // namespace

LogicalResult Importer::importScatter(OpLowering& l) {
  Scatter scatter(l);
  if (scatter.scatterByKinds()) return success();
  Block& body = scatter.op.getUpdateComputation().front();
  auto apply = [&](SmallVector<Value> old, ArrayRef<Value> updates, SmallVectorImpl<Value>& combined) {
    llvm::append_range(old, updates);
    return importLifted(body, old, combined);
  };
  if (scatter.op.getUniqueIndices() || scatter.getNumWindows() == 1) {
    SmallVector<Value> updates, combined;
    for (unsigned i = 0; i < scatter.count; ++i) updates.push_back(scatter.updates(i));
    if (apply(scatter.gather(), updates, combined).failed()) return failure();
    scatter.replace(combined);
    return success();
  }
  int64_t windows = scatter.getNumWindows();
  if (windows > kMostUpdates)
    return l.error() << "applies a body of its own to " << windows << " updates that may meet, supported are up to "
                     << kMostUpdates << "; give unique_indices=True, or combine by add, multiply, minimum or maximum";
  SmallVector<Value> current(l.operands.take_front(scatter.count));
  SmallVector<int64_t> shape = scatter.getWindowShape();
  for (int64_t number = 0; number < windows; ++number) {
    Scatter::Window window = scatter.getWindow(number);
    SmallVector<Value> old, combined;
    for (Value value : current)
      old.push_back(l.create<DynamicSliceOp>(tensorType(value).clone(shape), value, window.starts, shape));
    if (apply(old, scatter.getWindowUpdates(number), combined).failed()) return failure();
    for (auto [value, before, after] : llvm::zip(current, old, combined)) {
      if (window.isInside) {
        Value isInside = l.broadcastScalar(window.isInside, tensorType(before));
        after = l.create<arith::SelectOp>(isInside, after, before);
      }
      value = l.create<DynamicUpdateSliceOp>(tensorType(value), value, after, window.starts);
    }
  }
  llvm::append_range(l.results, current);
  return success();
}
