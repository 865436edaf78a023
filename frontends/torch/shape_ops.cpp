// Ops that move elements. The archive says the shape of every result.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::takeSlice(TensorMath& math, Value value, int64_t dim, int64_t begin, int64_t end,
                                  int64_t step) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1),
      shape(type.getShape());
  starts[dim] = begin;
  limits[dim] = std::max(begin, end);
  strides[dim] = step = std::max<int64_t>(step, 1);
  shape[dim] = llvm::divideCeil(limits[dim] - begin, step);
  return shape == type.getShape() ? value : math.create<SliceOp>(type.clone(shape), value, starts, limits, strides);
}

namespace {

int64_t getRank(Value value) { return tensorType(value).getRank(); }

LogicalResult lowerAtLeast3d(AtenOp& op) { return op.finish(addDims(op.math, op.tensor("self"), 3)); }

LogicalResult lowerReshape(AtenOp& op) { return op.finish(op.math.reshape(op.tensor("self"), op.type().getShape())); }

LogicalResult lowerExpand(AtenOp& op) { return op.finish(op.expand(op.tensor("self"), op.type().getShape())); }

LogicalResult lowerPermute(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> order = op.integers("dims");
  for (int64_t& dim : order) dim = wrapDim(dim, getRank(value));
  return op.finish(op.math.transpose(value, order));
}

/// All dimensions in the reverse order.
LogicalResult lowerReverseDims(AtenOp& op) {
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, getRank(op.tensor("self")))));
  return op.finish(op.math.transpose(op.tensor("self"), order));
}

LogicalResult lowerMatrixTranspose(AtenOp& op) {
  Value value = op.tensor("self");
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, getRank(value)));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return op.finish(op.math.transpose(value, order));
}

/// Dimensions `source` move to the places `destination`; the others keep their order.
LogicalResult lowerMoveDim(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t rank = getRank(value);
  SmallVector<int64_t> order(rank, -1);
  SmallVector<int64_t> from = op.integers("source");
  for (auto [source, destination] : llvm::zip(from, op.integers("destination")))
    order[wrapDim(destination, rank)] = wrapDim(source, rank);
  int64_t next = 0;
  for (int64_t& dim : order) {
    if (dim >= 0) continue;
    while (llvm::is_contained(order, next)) ++next;
    dim = next;
  }
  return op.finish(op.math.transpose(value, order));
}

LogicalResult lowerTranspose(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t rank = getRank(value);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank > 0) {
    bool isPlain = !op.has("dim0");  // t
    std::swap(order[wrapDim(op.integer("dim0", 0), rank)],
              order[wrapDim(op.integer("dim1", isPlain && rank > 1 ? 1 : 0), rank)]);
  }
  return op.finish(op.math.transpose(value, order));
}

int64_t clampIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

LogicalResult lowerSlice(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value)), size = shapeOf(value)[dim];
  int64_t begin = clampIndex(op.integer("start", 0), size), end = clampIndex(op.integer("end", INT64_MAX), size);
  return op.finish(takeSlice(op.math, value, dim, begin, end, op.integer("step", 1)));
}

LogicalResult lowerSelect(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value)), size = shapeOf(value)[dim],
          index = op.integer("index", 0);
  if (index < 0) index += size;
  return op.finish(op.math.reshape(takeSlice(op.math, value, dim, index, index + 1), op.type().getShape()));
}

LogicalResult lowerNarrow(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value)), begin = op.integer("start", 0);
  if (begin < 0) begin += shapeOf(value)[dim];
  return op.finish(takeSlice(op.math, value, dim, begin, begin + op.integer("length", 0)));
}

/// The archive has the size of each part. hsplit splits vectors along their only dimension.
template <int64_t fixed = -1>
LogicalResult lowerSplit(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(fixed >= 0 ? fixed : op.integer("dim", 0), getRank(value)), begin = 0;
  for (unsigned part = 0; part < op.getNumOutputs(); ++part) {
    if (op.type(part).getRank() != getRank(value) || begin + op.type(part).getDimSize(dim) > shapeOf(value)[dim])
      return op.error() << "has a part that does not fit; export the model anew";
    int64_t size = op.type(part).getDimSize(dim);
    (void)op.finish(takeSlice(op.math, value, dim, begin, begin + size), part);
    begin += size;
  }
  return success();
}

LogicalResult lowerUnbind(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value));
  for (unsigned part = 0; part < op.getNumOutputs(); ++part)
    (void)op.finish(op.math.reshape(takeSlice(op.math, value, dim, part, part + 1), op.type(part).getShape()), part);
  return success();
}

/// Along dimensions, along the last one (fliplr), or along the first one (flipud).
template <int64_t fixed = -1>
LogicalResult lowerFlip(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims = fixed >= 0 ? SmallVector<int64_t>{fixed} : op.integers("dims");
  if (getRank(value) == 0) return op.finish(value);
  for (int64_t& dim : dims) dim = wrapDim(dim, getRank(value));
  return op.finish(op.math.create<ReverseOp>(value.getType(), value, dims));
}

LogicalResult lowerRoll(AtenOp& op) {
  Value value = op.tensor("self");
  if (getRank(value) == 0) return op.finish(value);
  SmallVector<int64_t> dims = op.integers("dims"), shifts = op.integers("shifts");
  bool isFlat = dims.empty();
  if (isFlat) {
    value = op.math.reshape(value, {tensorType(value).getNumElements()});
    dims.push_back(0);
  }
  for (auto [dim, shift] : llvm::zip(dims, shifts)) {
    int64_t at = wrapDim(dim, getRank(value)), size = shapeOf(value)[at];
    if (size == 0) continue;
    int64_t cut = ((-shift) % size + size) % size;
    if (cut == 0) continue;
    Value parts[] = {takeSlice(op.math, value, at, cut, size), takeSlice(op.math, value, at, 0, cut)};
    value = op.math.concatenate(parts, at);
  }
  return op.finish(op.math.reshape(value, op.type().getShape()));
}

/// Copies, one behind the other in each dimension.
LogicalResult lowerRepeat(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> repeats = op.has("repeats") ? op.integers("repeats") : op.integers("dims");
  SmallVector<int64_t> own(shapeOf(value)), wide, dims;
  while (own.size() < repeats.size()) own.insert(own.begin(), 1);
  while (repeats.size() < own.size()) repeats.insert(repeats.begin(), 1);
  for (auto [size, count] : llvm::zip(own, repeats)) {
    wide.push_back(count);
    dims.push_back(wide.size());
    wide.push_back(size);
  }
  Value spread = op.math.broadcast(op.math.reshape(value, own), dims, wide);
  return op.finish(op.math.reshape(spread, op.type().getShape()));
}

LogicalResult lowerRepeatInterleave(AtenOp& op) {
  Value value = op.tensor("self");
  if (!op.has("dim")) value = op.math.reshape(value, {tensorType(value).getNumElements()});
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value));
  SmallVector<int64_t> wide(shapeOf(value)), dims;
  wide.insert(wide.begin() + dim + 1, op.integer("repeats", 1));
  for (int64_t at = 0; at < getRank(value); ++at) dims.push_back(at <= dim ? at : at + 1);
  return op.finish(op.math.reshape(op.math.broadcast(value, dims, wide), op.type().getShape()));
}

/// Each slice as often as `repeats` says. Part j of the result is the slice before which at most j parts are.
LogicalResult lowerRepeatByTensor(AtenOp& op) {
  Value value = op.tensor("self");
  if (!op.has("dim")) value = op.math.reshape(value, {tensorType(value).getNumElements()});
  int64_t dim = wrapDim(op.integer("dim", 0), getRank(value));
  if (getRank(value) == 0 || op.type().getRank() != getRank(value))
    return op.error() << "has a result that does not fit; export the model anew";
  auto counts = RankedTensorType::get({shapeOf(value)[dim]}, op.math.getBuilder().getI64Type());
  Value repeats = op.convert(op.tensor("repeats"), counts.getElementType());
  if (tensorType(repeats).getNumElements() == 1) repeats = op.math.reshape(repeats, {1});
  repeats = op.expand(repeats, counts.getShape());
  Value ends = op.math.create<CumulativeOp>(counts, repeats, ReduceKind::Add, /*dimension=*/0, /*reverse=*/false);
  auto pairs = counts.clone({op.type().getDimSize(dim), counts.getDimSize(0)});
  Value isBehind = op.math.isAtLeast(op.count(pairs, 0), op.math.broadcast(ends, 1, pairs.getShape()));
  Value index = op.math.reduce(op.convert(isBehind, counts.getElementType()), ReduceKind::Add, 1);
  return op.finish(takeAlong(op.math, value, index, dim));
}

/// The lower triangle up to `diagonal`, or the upper one from it on.
template <bool isLower>
LogicalResult lowerTriangle(AtenOp& op) {
  RankedTensorType numbers = op.type().clone(op.math.getBuilder().getI32Type());
  int64_t rank = numbers.getRank();
  Value row = op.math.create<IotaOp>(numbers, rank - 2), column = op.math.create<IotaOp>(numbers, rank - 1);
  Value bound = op.math.add(row, op.constant(numbers, op.number("diagonal", 0)));
  Value isInside = isLower ? op.math.isAtLeast(bound, column) : op.math.isAtLeast(column, bound);
  return op.finish(op.math.select(isInside, op.tensor("self"), op.splat(0)));
}

/// By `k` quarters of a turn, from the first of two dimensions to the second.
LogicalResult lowerRotate(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims = op.integers("dims", {0, 1});
  if (dims.size() != 2) return op.error() << "turns " << dims.size() << " dimensions; expected 2";
  int64_t first = wrapDim(dims[0], getRank(value)), second = wrapDim(dims[1], getRank(value));
  int64_t turns = ((op.integer("k", 1) % 4) + 4) % 4;
  auto flip = [&](Value of, ArrayRef<int64_t> along) { return op.math.create<ReverseOp>(of.getType(), of, along); };
  if (turns == 0) return op.finish(value);
  if (turns == 2) return op.finish(flip(value, {first, second}));
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, getRank(value)));
  std::swap(order[first], order[second]);
  if (turns == 1) return op.finish(op.math.transpose(flip(value, second), order));
  return op.finish(flip(op.math.transpose(value, order), second));
}

/// Channels of a group follow each other; afterwards those of all groups do.
LogicalResult lowerChannelShuffle(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> parts(shapeOf(value));
  int64_t groups = op.integer("groups", 1), channel = 1;
  if (groups < 1 || parts[channel] % groups != 0)
    return op.error() << "has " << groups << " groups of " << parts[channel] << " channels; expected a divisor";
  parts[channel] /= groups;
  parts.insert(parts.begin() + channel, groups);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, parts.size()));
  std::swap(order[channel], order[channel + 1]);
  return op.finish(op.math.reshape(op.math.transpose(op.math.reshape(value, parts), order), op.type().getShape()));
}

/// r^2 channels of 1/r the size from pictures.
LogicalResult lowerPixelUnshuffle(AtenOp& op) {
  Value value = op.tensor("self");
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t rank = getRank(value), factor = op.integer("downscale_factor", 1);
  if (factor < 1 || shape[rank - 1] % factor != 0 || shape[rank - 2] % factor != 0)
    return op.error() << "has a factor of " << factor << "; expected a divisor of the sizes";
  SmallVector<int64_t> parts(shape.drop_back(2));
  int64_t channels = parts.size();
  parts.append({shape[rank - 2] / factor, factor, shape[rank - 1] / factor, factor});
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, channels));
  order.append({channels + 1, channels + 3, channels, channels + 2});
  return op.finish(op.math.reshape(op.math.transpose(op.math.reshape(value, parts), order), op.type().getShape()));
}

/// Pictures of r times the size from r^2 channels.
LogicalResult lowerPixelShuffle(AtenOp& op) {
  Value value = op.tensor("self");
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t rank = getRank(value), factor = op.integer("upscale_factor", 1);
  if (factor < 1 || factor > shape[rank - 3])
    return op.error() << "has a factor of " << factor << "; expected one whose square divides the channels";
  SmallVector<int64_t> parts(shape.drop_back(3));
  int64_t batch = parts.size(), channels = shape[rank - 3] / (factor * factor), height = shape[rank - 2],
          width = shape[rank - 1];
  parts.append({channels, factor, factor, height, width});
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  order.append({batch, batch + 3, batch + 1, batch + 4, batch + 2});
  return op.finish(op.math.reshape(op.math.transpose(op.math.reshape(value, parts), order), op.type().getShape()));
}

}  // namespace

void mlir::sgd::torch::addShapeOps(OpTable& table) {
  enter(table, {"view.default",           "_unsafe_view.default", "reshape.default",    "reshape_as.default",
                "flatten.using_ints",     "unflatten.int",        "squeeze.default",    "squeeze.dim",
                "squeeze.dims",           "unsqueeze.default",    "view_as.default",    "_reshape_alias.default",
                "ravel.default",          "atleast_1d.default",   "atleast_2d.default", "view_copy.default",
                "unsqueeze_copy.default", "squeeze_copy.default", "squeeze_copy.dim",   "squeeze_copy.dims",
                "_reshape_copy.default",  "unsqueeze_.default",   "squeeze_.default",   "squeeze_.dim",
                "squeeze_.dims"},
        lowerReshape);
  enter(table, {"atleast_3d.default"}, lowerAtLeast3d);
  enter(table, {"expand.default", "expand_as.default", "broadcast_to.default", "expand_copy.default"}, lowerExpand);
  enter(table, {"permute.default", "permute_copy.default"}, lowerPermute);
  enter(table,
        {"transpose.int", "t.default", "swapaxes.default", "swapdims.default", "transpose_copy.int", "t_copy.default",
         "transpose_.default", "t_.default", "swapaxes_.default", "swapdims_.default"},
        lowerTranspose);
  enter(table, {"numpy_T.default"}, lowerReverseDims);
  enter(table, {"mT.default", "mH.default", "adjoint.default", "matrix_H.default"},
        {lowerMatrixTranspose, {"self"}, 2});
  enter(table, {"movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist"}, lowerMoveDim);
  enter(table, {"slice.Tensor", "slice_copy.Tensor"}, {lowerSlice, {"self"}, 1});
  enter(table, {"select.int", "select_copy.int"}, {lowerSelect, {"self"}, 1});
  enter(table, {"narrow.default", "narrow_copy.default"}, {lowerNarrow, {"self"}, 1});
  enter(table,
        {"split.Tensor", "split.sizes", "split_with_sizes.default", "chunk.default", "tensor_split.sections",
         "tensor_split.indices", "unsafe_split.Tensor", "unsafe_chunk.default", "unsafe_split_with_sizes.default",
         "split_copy.Tensor", "split_with_sizes_copy.default"},
        {lowerSplit<>, {"self"}, 1});
  // Of a list of positions the archive has no sizes.
  enter(table, {"tensor_split.tensor_indices_or_sections"}, {lowerSplit<>, {"self", "tensor_indices_or_sections"}, 1});
  enter(table, {"hsplit.int", "hsplit.array"}, {lowerSplit<1>, {"self"}, 1});
  enter(table, {"vsplit.int", "vsplit.array"}, {lowerSplit<0>, {"self"}, 2});
  enter(table, {"dsplit.int", "dsplit.array"}, {lowerSplit<2>, {"self"}, 3});
  enter(table, {"unbind.int", "unbind_copy.int"}, {lowerUnbind, {"self"}, 1});
  enter(table, {"flip.default"}, lowerFlip<>);
  enter(table, {"fliplr.default"}, {lowerFlip<1>, {"self"}, 2});
  enter(table, {"flipud.default"}, {lowerFlip<0>, {"self"}, 1});
  enter(table, {"rot90.default"}, {lowerRotate, {"self"}, 2});
  enter(table, {"roll.default"}, lowerRoll);
  enter(table, {"repeat.default", "tile.default"}, lowerRepeat);
  enter(table, {"repeat_interleave.self_int"}, lowerRepeatInterleave);
  enter(table, {"repeat_interleave.self_Tensor"}, {lowerRepeatByTensor, {"self", "repeats"}});
  enter(table, {"tril.default"}, {lowerTriangle<true>, {"self"}, 2});
  enter(table, {"triu.default"}, {lowerTriangle<false>, {"self"}, 2});
  enter(table, {"pixel_shuffle.default"}, {lowerPixelShuffle, {"self"}, 3});
  enter(table, {"pixel_unshuffle.default"}, {lowerPixelUnshuffle, {"self"}, 3});
  enter(table, {"channel_shuffle.default", "native_channel_shuffle.default"}, {lowerChannelShuffle, {"self"}, 3});
}
