// Broadcasts, transposes and reshapes of leading dimensions.
#include "passes/manual/stacked.h"

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

SmallVector<int64_t> StackBuilder::getSizes(ArrayRef<unsigned> axes) const {
  return llvm::map_to_vector(axes, [&](unsigned axis) { return getSize(axis); });
}

int64_t StackBuilder::getNumRanks(ArrayRef<unsigned> axes) const {
  int64_t ranks = 1;
  for (unsigned axis : axes) ranks *= getSize(axis);
  return ranks;
}

DimShardingAttr StackBuilder::getDimSharding(unsigned axis) const {
  return DimShardingAttr::get(builder.getContext(), mesh.getRef(axis), /*isOpen=*/false, std::nullopt);
}

RankedTensorType StackBuilder::getStackedType(ArrayRef<unsigned> axes, Type type) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = getSizes(axes);
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

Stacked StackBuilder::spread(Location loc, const Stacked& stacked, ArrayRef<unsigned> axes) {
  AxisIndices all = unite(stacked.axes, axes);
  if (all == stacked.axes) return stacked;
  SmallVector<int64_t> dims;
  for (auto [position, axis] : llvm::enumerate(all))
    if (llvm::is_contained(stacked.axes, axis)) dims.push_back(position);
  ArrayRef<int64_t> shape = stacked.getShape();
  for (size_t dim = 0; dim < shape.size(); ++dim) dims.push_back(all.size() + dim);
  RankedTensorType type = getStackedType(all, RankedTensorType::get(shape, stacked.getType().getElementType()));
  return {BroadcastInDimOp::create(builder, loc, type, stacked.value, dims), all};
}

Value StackBuilder::transpose(Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation)) return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  return TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

Stacked StackBuilder::bringIn(Location loc, const Stacked& stacked, ArrayRef<unsigned> axes, int64_t dim) {
  Stacked spreadOut = spread(loc, stacked, axes);
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

Stacked StackBuilder::takeOut(Location loc, const Stacked& stacked, ArrayRef<unsigned> axes, int64_t dim) {
  AxisIndices all = unite(stacked.axes, axes);
  int64_t rank = stacked.getType().getRank(), leading = stacked.axes.size(), count = axes.size();
  SmallVector<int64_t> permutation;
  for (unsigned axis : all) {
    const unsigned* taken = llvm::find(axes, axis);
    permutation.push_back(taken == axes.end() ? llvm::find(stacked.axes, axis) - stacked.axes.begin()
                                              : leading + dim + (taken - axes.begin()));
  }
  for (int64_t own = leading; own < rank; ++own)
    if (own < leading + dim || own >= leading + dim + count) permutation.push_back(own);
  return {transpose(loc, stacked.value, permutation), all};
}

Stacked StackBuilder::reshape(Location loc, const Stacked& stacked, ArrayRef<int64_t> shape) {
  if (stacked.getShape() == shape) return stacked;
  RankedTensorType type =
      getStackedType(stacked.axes, RankedTensorType::get(shape, stacked.getType().getElementType()));
  return {ReshapeOp::create(builder, loc, type, stacked.value), stacked.axes};
}
