// Broadcasts, transposes and reshapes of leading dimensions.
#include "passes/sharding/manual/batched.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sgd;

AxisIndices mlir::sgd::unite(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  AxisIndices all(a);
  all.append(without(b, a));
  llvm::sort(all);
  return all;
}

AxisIndices mlir::sgd::without(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  return llvm::filter_to_vector<2>(a, [&](unsigned axis) { return !llvm::is_contained(b, axis); });
}

SmallVector<int64_t> BatchBuilder::getSizes(ArrayRef<unsigned> axes) const {
  return llvm::map_to_vector(axes, [&](unsigned axis) { return getSize(axis); });
}

int64_t BatchBuilder::getNumRanks(ArrayRef<unsigned> axes) const {
  int64_t ranks = 1;
  for (unsigned axis : axes) ranks *= getSize(axis);
  return ranks;
}

DimShardingAttr BatchBuilder::getDimSharding(unsigned axis) const {
  return DimShardingAttr::get(builder.getContext(), mesh.getRef(axis), /*isOpen=*/false, std::nullopt);
}

RankedTensorType BatchBuilder::getBatchedType(ArrayRef<unsigned> axes, Type type) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = getSizes(axes);
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

Batched BatchBuilder::spread(Location loc, const Batched& batched, ArrayRef<unsigned> axes) {
  AxisIndices all = unite(batched.axes, axes);
  if (all == batched.axes) return batched;
  SmallVector<int64_t> dims;
  for (auto [position, axis] : llvm::enumerate(all))
    if (llvm::is_contained(batched.axes, axis)) dims.push_back(position);
  ArrayRef<int64_t> shape = batched.getShape();
  for (size_t dim = 0; dim < shape.size(); ++dim) dims.push_back(all.size() + dim);
  RankedTensorType type = getBatchedType(all, RankedTensorType::get(shape, batched.getType().getElementType()));
  return {BroadcastInDimOp::create(builder, loc, type, batched.value, dims), all};
}

Value BatchBuilder::transpose(Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation)) return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  return TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

Batched BatchBuilder::bringIn(Location loc, const Batched& batched, ArrayRef<unsigned> axes, int64_t dim) {
  Batched spreadOut = spread(loc, batched, axes);
  AxisIndices remaining = without(spreadOut.axes, axes);
  int64_t rank = spreadOut.getType().getRank(), leading = spreadOut.axes.size();
  SmallVector<int64_t> permutation;
  auto append = [&](unsigned axis) {
    permutation.push_back(llvm::find(spreadOut.axes, axis) - spreadOut.axes.begin());
  };
  for (unsigned axis : remaining) append(axis);
  for (int64_t own = leading; own < leading + dim; ++own) permutation.push_back(own);
  for (unsigned axis : axes) append(axis);
  for (int64_t own = leading + dim; own < rank; ++own) permutation.push_back(own);
  return {transpose(loc, spreadOut.value, permutation), remaining};
}

Batched BatchBuilder::takeOut(Location loc, const Batched& batched, ArrayRef<unsigned> axes, int64_t dim) {
  AxisIndices all = unite(batched.axes, axes);
  int64_t rank = batched.getType().getRank(), leading = batched.axes.size(), count = axes.size();
  SmallVector<int64_t> permutation;
  for (unsigned axis : all) {
    const unsigned* taken = llvm::find(axes, axis);
    permutation.push_back(taken == axes.end() ? llvm::find(batched.axes, axis) - batched.axes.begin()
                                              : leading + dim + (taken - axes.begin()));
  }
  for (int64_t own = leading; own < rank; ++own)
    if (own < leading + dim || own >= leading + dim + count) permutation.push_back(own);
  return {transpose(loc, batched.value, permutation), all};
}

Batched BatchBuilder::reshape(Location loc, const Batched& batched, ArrayRef<int64_t> shape) {
  if (batched.getShape() == shape) return batched;
  RankedTensorType type =
      getBatchedType(batched.axes, RankedTensorType::get(shape, batched.getType().getElementType()));
  return {ReshapeOp::create(builder, loc, type, batched.value), batched.axes};
}
