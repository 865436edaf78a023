// Slices, reshapes and concatenations; one component needs no vector.
#include "passes/spmd/partition/index_vectors.h"

#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::createComponent(OpBuilder& builder, Location loc, Value indices, int64_t vectorDim,
                                 int64_t component) {
  RankedTensorType type = tensorType(indices);
  if (vectorDim == type.getRank()) return indices;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  starts[vectorDim] = component;
  limits[vectorDim] = component + 1;
  SmallVector<int64_t> shape(type.getShape());
  shape[vectorDim] = 1;
  if (type.getDimSize(vectorDim) != 1)
    indices = SliceOp::create(builder, loc, type.clone(shape), indices, starts, limits, strides);
  shape.erase(shape.begin() + vectorDim);
  return ReshapeOp::create(builder, loc, type.clone(shape), indices);
}

Value mlir::sgd::createIndexVectors(OpBuilder& builder, Location loc, ArrayRef<Value> components) {
  if (components.size() == 1) return components[0];
  RankedTensorType type = tensorType(components[0]);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  SmallVector<Value> columns;
  for (Value component : components) columns.push_back(ReshapeOp::create(builder, loc, type.clone(shape), component));
  shape.back() = components.size();
  return ConcatenateOp::create(builder, loc, type.clone(shape), columns, type.getRank());
}

BatchDims::BatchDims(ArrayRef<int64_t> tensorShape, ArrayRef<int64_t> windows, ArrayRef<int64_t> moved) {
  for (auto [dim, size] : llvm::enumerate(tensorShape)) {
    int64_t at = static_cast<int64_t>(dim);
    bool isWindow = llvm::is_contained(windows, at), isMoved = llvm::is_contained(moved, at);
    if (isWindow && !isMoved) {
      windowDims.push_back(at);
      continue;
    }
    if (!isMoved) fromIndices.push_back(dims.size());
    dims.push_back(at);
    shape.push_back(size);
  }
}

SmallVector<int64_t> mlir::sgd::getMovedWindows(ArrayRef<Relocated> relocated) {
  SmallVector<int64_t> moved;
  for (const Relocated& where : relocated)
    if (where.window) moved.push_back(*where.window);
  return moved;
}

Value mlir::sgd::createShardOffset(ReshardEmitter& emitter, IndexMath& math, Location loc, ArrayRef<AxisPart> parts,
                                   int64_t shardSize) {
  Value id = math.convert(emitter.getPartitionId(loc, parts), /*isUnsigned=*/false, 0, INT32_MAX);
  return math.multiply(id, shardSize);
}
