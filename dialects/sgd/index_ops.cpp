// Verifiers and folders of the ops that only move elements: broadcast, transpose, reshape, slice, pad, concatenate,
// gather, scatter, ...
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::sgd;

/// The result has `shape` and the element type of `input`.
static LogicalResult verifyResult(Operation* op, Value input, ArrayRef<int64_t> shape) {
  auto result = tensorType(op->getResult(0));
  if (result.getShape() != shape)
    return op->emitOpError() << "has the result " << result << "; expected the shape [" << shape
                             << "]; correct the result's type";
  if (result.getElementType() != tensorType(input).getElementType())
    return op->emitOpError() << "has the result " << result << "; expected the operand's element type "
                             << tensorType(input).getElementType() << "; correct the result's type";
  return success();
}

static LogicalResult verifyLength(Operation* op, StringRef name, ArrayRef<int64_t> list, int64_t rank) {
  if (static_cast<int64_t>(list.size()) == rank) return success();
  return op->emitOpError() << name << " has " << list.size() << " entries, the tensor " << rank
                           << " dimensions; expected one entry per dimension; give as many";
}

static LogicalResult verifyDistinct(Operation* op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || !seen.insert(dim).second)
      return op->emitOpError() << name << ": " << dim
                               << " comes twice or is no dimension; expected distinct ones in [0, " << rank
                               << "); correct the list";
  return success();
}

// StableHLO spec, broadcast_in_dim (C1) to (C5).
LogicalResult BroadcastInDimOp::verify() {
  auto input = tensorType(getInput()), result = tensorType(getResult());
  if (failed(verifyLength(*this, "dims", getDims(), input.getRank())) ||
      failed(verifyDistinct(*this, "dims", getDims(), result.getRank())))
    return failure();
  for (auto [from, to] : llvm::enumerate(getDims()))
    if (input.getDimSize(from) != 1 && input.getDimSize(from) != result.getDimSize(to))
      return emitOpError() << "operand dimension " << from << " of size " << input.getDimSize(from)
                           << " cannot become dimension " << to << " of size " << result.getDimSize(to)
                           << "; expected one size, or size 1; correct the result's shape or dims";
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "has the result " << result << "; expected the operand's element type "
                         << input.getElementType() << "; correct the result's type";
  return success();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  auto result = tensorType(getResult());
  if (getInput().getType() == result && llvm::equal(getDims(), llvm::seq<int64_t>(0, result.getRank())))
    return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput())) return splat.resizeSplat(result);
  return {};
}

// StableHLO spec, transpose (C1) to (C3).
LogicalResult TransposeOp::verify() {
  auto input = tensorType(getInput());
  if (failed(verifyLength(*this, "permutation", getPermutation(), input.getRank())) ||
      failed(verifyDistinct(*this, "permutation", getPermutation(), input.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation()) shape.push_back(input.getDimSize(dim));
  return verifyResult(*this, getInput(), shape);
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  auto result = tensorType(getResult());
  if (getInput().getType() == result && llvm::equal(getPermutation(), llvm::seq<int64_t>(0, result.getRank())))
    return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput())) return splat.resizeSplat(result);
  return {};
}

// StableHLO spec, reshape (C1), (C2).
LogicalResult ReshapeOp::verify() {
  auto input = tensorType(getInput()), result = tensorType(getResult());
  if (input.getNumElements() != result.getNumElements() || input.getElementType() != result.getElementType())
    return emitOpError() << "reshapes " << getInput().getType() << " to " << getType()
                         << "; expected as many elements of one type; correct the result's type";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  auto result = tensorType(getResult());
  if (getInput().getType() == result) return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput())) return splat.resizeSplat(result);
  // A reshape of a reshape is one reshape; shardings between them would be lost, so only where there are none.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>(); inner && !tensorType(getInput()).getEncoding()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

// StableHLO spec, slice (C1) to (C5).
LogicalResult SliceOp::verify() {
  auto input = tensorType(getInput());
  int64_t rank = input.getRank();
  if (failed(verifyLength(*this, "starts", getStarts(), rank)) ||
      failed(verifyLength(*this, "limits", getLimits(), rank)) ||
      failed(verifyLength(*this, "strides", getStrides(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = getStarts()[dim], limit = getLimits()[dim], stride = getStrides()[dim];
    if (start < 0 || limit < start || limit > input.getDimSize(dim) || stride < 1)
      return emitOpError() << "dimension " << dim << ": [" << start << ":" << limit << ":" << stride
                           << "] does not lie in size " << input.getDimSize(dim)
                           << "; expected 0 <= start <= limit <= size and a stride above 0; correct the range";
    shape.push_back((limit - start + stride - 1) / stride);
  }
  return verifyResult(*this, getInput(), shape);
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType()) return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput())) return splat.resizeSplat(getType());
  return {};
}

// StableHLO spec, pad (C1) to (C4).
LogicalResult PadOp::verify() {
  auto input = tensorType(getInput());
  int64_t rank = input.getRank();
  if (failed(verifyLength(*this, "low", getLow(), rank)) || failed(verifyLength(*this, "high", getHigh(), rank)) ||
      failed(verifyLength(*this, "interior", getInterior(), rank)))
    return failure();
  auto value = tensorType(getValue());
  if (value.getRank() != 0 || value.getElementType() != input.getElementType())
    return emitOpError() << "has the padding value " << getValue().getType()
                         << "; expected a scalar of the operand's element type; convert it";
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = input.getDimSize(dim);
    if (getInterior()[dim] < 0)
      return emitOpError() << "has the interior padding " << getInterior()[dim] << "; expected 0 or more; correct it";
    shape.push_back(getLow()[dim] + size + std::max<int64_t>(size - 1, 0) * getInterior()[dim] + getHigh()[dim]);
    if (shape.back() < 0)
      return emitOpError() << "leaves " << shape.back() << " elements in dimension " << dim
                           << "; expected 0 or more; correct the padding";
  }
  return verifyResult(*this, getInput(), shape);
}

// StableHLO spec, concatenate (C1) to (C6).
LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty()) return emitOpError("has no operand; expected one or more; give it a tensor");
  auto first = tensorType(getInputs()[0]);
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= first.getRank())
    return emitOpError() << "has no dimension " << dimension << " in " << first
                         << "; expected one of the tensor, counted from 0; correct it";
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (Value input : getInputs()) {
    auto type = tensorType(input);
    if (type.getRank() != first.getRank() || type.getElementType() != first.getElementType())
      return emitOpError() << "has the operands " << first << " and " << tensorType(input)
                           << "; expected one rank and element type; reshape or convert one";
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != dimension && type.getDimSize(dim) != first.getDimSize(dim))

        return emitOpError() << "has operands that differ in dimension " << dim
                             << "; expected equal sizes in all but one; slice or pad an operand";
    shape[dimension] += type.getDimSize(dimension);
  }
  return verifyResult(*this, getInputs()[0], shape);
}

// StableHLO spec, reverse (C2), (C3); (C1) is its type constraint.
LogicalResult ReverseOp::verify() {
  return verifyDistinct(*this, "dimensions", getDimensions(), tensorType(getInput()).getRank());
}

// StableHLO spec, iota (C1).
LogicalResult IotaOp::verify() {
  int64_t rank = tensorType(getResult()).getRank(), dim = getDimension();
  if (dim >= 0 && dim < rank) return success();
  return emitOpError() << "has no dimension " << dim << " in " << getType()
                       << "; expected one of the result, counted from 0; correct it";
}

static LogicalResult verifyStarts(Operation* op, ValueRange starts, int64_t rank) {
  if (static_cast<int64_t>(starts.size()) != rank)
    return op->emitOpError() << "has " << starts.size() << " starts for " << rank
                             << " dimensions; expected one for each; give as many";
  for (Value start : starts)
    if (tensorType(start).getRank() != 0 || !tensorType(start).getElementType().isInteger())
      return op->emitOpError() << "has the start " << start.getType() << "; expected integer scalars; convert it";
  return success();
}

// StableHLO spec, dynamic_slice (C1), (C2), (C4), (C5); starts may differ in type, unlike (C3).
LogicalResult DynamicSliceOp::verify() {
  auto input = tensorType(getInput());
  if (failed(verifyStarts(*this, getStarts(), input.getRank())) ||
      failed(verifyLength(*this, "sizes", getSizes(), input.getRank())))
    return failure();
  for (auto [size, bound] : llvm::zip(getSizes(), input.getShape()))
    if (size < 0 || size > bound)
      return emitOpError() << "size " << size << " does not fit in " << bound
                           << "; expected at most that; correct sizes";
  return verifyResult(*this, getInput(), getSizes());
}

// StableHLO spec, dynamic_update_slice (C1) to (C4), (C6); starts may differ in type, unlike (C5).
LogicalResult DynamicUpdateSliceOp::verify() {
  auto input = tensorType(getInput()), update = tensorType(getUpdate());
  if (failed(verifyStarts(*this, getStarts(), input.getRank()))) return failure();
  if (update.getRank() != input.getRank() || update.getElementType() != input.getElementType())
    return emitOpError() << "has the update " << update << "; expected rank and element type of " << input
                         << "; reshape or convert it";
  for (auto [size, bound] : llvm::zip(update.getShape(), input.getShape()))
    if (size > bound)
      return emitOpError() << "update of size " << size << " does not fit in " << bound
                           << "; expected at most that; slice the update";
  return verifyResult(*this, getInput(), input.getShape());
}

// Gather and scatter
// ----------------------------------------------------------------------------------------------------

/// Sizes of the index tensor without the index vector, the batch part of a gather's result or a scatter's updates.
static SmallVector<int64_t> batchShape(RankedTensorType indices, int64_t indexVectorDim) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    if (dim != indexVectorDim) shape.push_back(indices.getDimSize(dim));
  return shape;
}

/// Interleaves: dimensions listed in `windowDims` take `window`'s sizes in order, the others `batch`'s.
static FailureOr<SmallVector<int64_t>> interleaveDims(ArrayRef<int64_t> windowDims, ArrayRef<int64_t> window,
                                                      ArrayRef<int64_t> batch) {
  int64_t rank = window.size() + batch.size();
  if (windowDims.size() != window.size() || !llvm::is_sorted(windowDims)) return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, w = 0, b = 0; dim < rank; ++dim) {
    bool isWindow = w < static_cast<int64_t>(window.size()) && windowDims[w] == dim;
    if (!isWindow && b == static_cast<int64_t>(batch.size())) return failure();
    shape.push_back(isWindow ? window[w++] : batch[b++]);
  }
  return shape;
}

/// `removed` are the dimensions of the operand that slices have not: collapsed or inserted ones.
static LogicalResult verifyIndices(Operation* op, RankedTensorType indices, int64_t indexVectorDim,
                                   ArrayRef<int64_t> indexMap, ArrayRef<int64_t> batching, RankedTensorType operand,
                                   ArrayRef<int64_t> operandBatching, ArrayRef<int64_t> removed) {
  if (!indices.getElementType().isInteger())
    return op->emitOpError() << "has the indices " << indices << "; expected integers; convert them";
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank())
    return op->emitOpError() << "index_vector_dim " << indexVectorDim << " is not in [0, " << indices.getRank()
                             << "]; expected a dimension of the indices, or their rank; correct it";
  int64_t components = indexVectorDim == indices.getRank() ? 1 : indices.getDimSize(indexVectorDim);
  if (static_cast<int64_t>(indexMap.size()) != components)
    return op->emitOpError() << "index vectors have " << components << " components, " << indexMap.size()
                             << " are mapped; expected as many; correct the map";
  if (failed(verifyDistinct(op, "batching dimensions of the indices", batching, indices.getRank()))) return failure();
  if (llvm::is_contained(batching, indexVectorDim))
    return op->emitOpError() << "index_vector_dim " << indexVectorDim
                             << " is a batching dimension; expected another; correct "
                                "it";
  if (operandBatching.size() != batching.size())
    return op->emitOpError(
        "has other numbers of batching dimensions in operand and indices; expected as many; correct the lists");
  auto verifyBesideBatching = [&](StringRef name, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> all(dims);
    llvm::append_range(all, operandBatching);
    return verifyDistinct(op, name, all, operand.getRank());
  };
  if (failed(verifyBesideBatching("indexed and batching dimensions", indexMap)) ||
      failed(verifyBesideBatching("collapsed or inserted, and batching dimensions", removed)))
    return failure();
  for (auto [mine, theirs] : llvm::zip(operandBatching, batching))
    if (operand.getDimSize(mine) != indices.getDimSize(theirs))
      return op->emitOpError() << "batching dimensions " << mine << " of the operand and " << theirs
                               << " of the indices differ in size; expected equal sizes; correct the lists";
  return success();
}

// StableHLO spec, gather (C1) to (C23), but for the order of collapsed and batching dimensions, which says nothing.
LogicalResult GatherOp::verify() {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  int64_t rank = input.getRank();
  if (failed(verifyIndices(*this, indices, getIndexVectorDim(), getStartIndexMap(), getIndicesBatchingDims(), input,
                           getOperandBatchingDims(), getCollapsedSliceDims())) ||
      failed(verifyLength(*this, "slice_sizes", getSliceSizes(), rank)))
    return failure();
  SmallVector<int64_t> window;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = getSliceSizes()[dim];
    if (size < 0 || size > input.getDimSize(dim))
      return emitOpError() << "slice size " << size << " does not fit in dimension " << dim << " of size "
                           << input.getDimSize(dim);
    bool collapsed =
        llvm::is_contained(getCollapsedSliceDims(), dim) || llvm::is_contained(getOperandBatchingDims(), dim);
    if (collapsed && size > 1)
      return emitOpError() << "collapsed dimension " << dim << " has slice size " << size
                           << "; expected 0 or 1; keep the dimension";
    if (!collapsed) window.push_back(size);
  }
  auto shape = interleaveDims(getOffsetDims(), window, batchShape(indices, getIndexVectorDim()));
  if (failed(shape))
    return emitOpError(
        "has offset_dims that do not fit the slice; expected one per dimension left of it; correct them");
  return verifyResult(*this, getInput(), *shape);
}

// StableHLO spec, scatter (C1) to (C25) for one input, but for the order of inserted and batching dimensions.
LogicalResult ScatterOp::verify() {
  auto input = tensorType(getInput()), indices = tensorType(getIndices()), updates = tensorType(getUpdates());
  int64_t rank = input.getRank();
  if (failed(verifyIndices(*this, indices, getIndexVectorDim(), getScatterDimsToOperandDims(), getIndicesBatchingDims(),
                           input, getInputBatchingDims(), getInsertedWindowDims())) ||
      failed(verifyDistinct(*this, "update_window_dims", getUpdateWindowDims(), updates.getRank())))
    return failure();
  SmallVector<int64_t> window, windowBounds;
  for (int64_t dim : getUpdateWindowDims()) window.push_back(updates.getDimSize(dim));
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(getInsertedWindowDims(), dim) && !llvm::is_contained(getInputBatchingDims(), dim))
      windowBounds.push_back(input.getDimSize(dim));
  if (window.size() != windowBounds.size())
    return emitOpError(
        "has update_window_dims that do not fit the operand; expected one per dimension left of it; correct them");
  for (auto [size, bound] : llvm::zip(window, windowBounds))
    if (size > bound)
      return emitOpError() << "update window of size " << size << " does not fit in " << bound
                           << "; expected at most that; slice the updates";
  auto shape = interleaveDims(getUpdateWindowDims(), window, batchShape(indices, getIndexVectorDim()));
  if (failed(shape) || ArrayRef<int64_t>(*shape) != updates.getShape() ||
      updates.getElementType() != input.getElementType())
    return emitOpError()
           << "has the updates " << updates
           << ", which do not fit indices and operand; expected the batch of the indices and the window of "
              "the operand; reshape them";
  return verifyResult(*this, getInput(), input.getShape());
}
