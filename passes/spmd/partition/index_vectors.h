// The index tensor of a gather or scatter, taken apart into one tensor per indexed dimension and put together again.
#ifndef SGD_PASSES_SPMD_PARTITION_INDEX_VECTORS_H
#define SGD_PASSES_SPMD_PARTITION_INDEX_VECTORS_H

#include "passes/spmd/partition/index_math.h"
#include "passes/spmd/partition/reshard_emitter.h"

namespace mlir::sgd {

/// Component `component` of the index vectors along dimension `vectorDim` (or of single elements, when that is the
/// rank of `indices`): a tensor without that dimension.
Value createComponent(OpBuilder& builder, Location loc, Value indices, int64_t vectorDim, int64_t component);

/// Index vectors along a new last dimension, from components of one shape.
Value createIndexVectors(OpBuilder& builder, Location loc, ArrayRef<Value> components);

/// How the dimensions of a gather's result or a scatter's updates that are not window dimensions follow from those of
/// the index tensor, once some window dimensions have become such batch dimensions too.
struct BatchDims {
  /// `windowDims` are window dimensions of a tensor of `shape`, `moved` those of them that become batch dimensions.
  BatchDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> windowDims, ArrayRef<int64_t> moved);

  SmallVector<int64_t> shape;        // of the batch
  SmallVector<int64_t> dims;         // of the tensor, by batch dimension
  SmallVector<int64_t> fromIndices;  // batch dimension of each of the index tensor's, its vector's left out
  SmallVector<int64_t> windowDims;   // of the tensor: what remains

  /// The batch dimension that is dimension `dim` of the tensor.
  int64_t find(int64_t dim) const { return llvm::find(dims, dim) - dims.begin(); }
};

/// A dimension of a gathered or scattered operand along which this rank holds, or wants, only a part.
struct Relocated {
  int64_t dim;                    // of the operand
  std::optional<int64_t> window;  // dimension of the result or updates, unless there is none for it
  AxisParts held, wanted;         // axes of the operand's dimension and of the result's window
};

/// The window dimensions among `relocated`: their elements become indices of their own.
SmallVector<int64_t> getMovedWindows(ArrayRef<Relocated> relocated);

/// This rank's first index along a dimension that is sharded over `parts` in shards of `shardSize` elements: a scalar.
Value createShardOffset(ReshardEmitter& emitter, IndexMath& math, Location loc, ArrayRef<AxisPart> parts,
                        int64_t shardSize);

}  // namespace mlir::sgd

#endif
