// Ops that move elements. The archive says the shape of every result.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

int64_t rankOf(Value value) { return tensorType(value).getRank(); }

LogicalResult lowerReshape(AtenOp& op) { return op.finish(op.math.reshape(op.tensor("self"), op.type().getShape())); }

LogicalResult lowerExpand(AtenOp& op) { return op.finish(op.expand(op.tensor("self"), op.type().getShape())); }

LogicalResult lowerPermute(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> order = op.integers("dims");
  for (int64_t& dim : order) dim = wrapDim(dim, rankOf(value));
  return op.finish(op.math.transpose(value, order));
}

/// Each operand in the shape of all of them.
LogicalResult lowerBroadcastTensors(AtenOp& op) {
  for (auto [output, tensor] : llvm::enumerate(op.tensors("tensors")))
    (void)op.finish(op.expand(tensor, op.type(output).getShape()), output);
  return success();
}

LogicalResult lowerMatrixTranspose(AtenOp& op) {
  Value value = op.tensor("self");
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return op.finish(op.math.transpose(value, order));
}

/// Dimensions `source` move to the places `destination`; the others keep their order.
LogicalResult lowerMoveDim(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t rank = rankOf(value);
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
  int64_t rank = rankOf(value);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank > 0) {
    bool isPlain = !op.has("dim0");  // t
    std::swap(order[wrapDim(op.integer("dim0", 0), rank)],
              order[wrapDim(op.integer("dim1", isPlain && rank > 1 ? 1 : 0), rank)]);
  }
  return op.finish(op.math.transpose(value, order));
}

/// Elements [begin, end) of `dim`, every `step`th.
Value takeSlice(TensorMath& math, Value value, int64_t dim, int64_t begin, int64_t end, int64_t step) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1),
      shape(type.getShape());
  starts[dim] = begin;
  limits[dim] = std::max(begin, end);
  strides[dim] = step;
  shape[dim] = llvm::divideCeil(limits[dim] - begin, step);
  return shape == type.getShape() ? value : math.create<SliceOp>(type.clone(shape), value, starts, limits, strides);
}

int64_t clampIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

LogicalResult lowerSlice(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value)), size = shapeOf(value)[dim];
  int64_t begin = clampIndex(op.integer("start", 0), size), end = clampIndex(op.integer("end", INT64_MAX), size);
  return op.finish(takeSlice(op.math, value, dim, begin, end, op.integer("step", 1)));
}

LogicalResult lowerSelect(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value)), size = shapeOf(value)[dim],
          index = op.integer("index", 0);
  if (index < 0) index += size;
  return op.finish(op.math.reshape(takeSlice(op.math, value, dim, index, index + 1, 1), op.type().getShape()));
}

LogicalResult lowerNarrow(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value)), begin = op.integer("start", 0);
  return op.finish(takeSlice(op.math, value, dim, begin, begin + op.integer("length", 0), 1));
}

/// The archive has the size of each part.
LogicalResult lowerSplit(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value)), begin = 0;
  for (unsigned part = 0; part < op.getNumOutputs(); ++part) {
    int64_t size = op.type(part).getDimSize(dim);
    (void)op.finish(takeSlice(op.math, value, dim, begin, begin + size, 1), part);
    begin += size;
  }
  return success();
}

LogicalResult lowerUnbind(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value));
  for (unsigned part = 0; part < op.getNumOutputs(); ++part)
    (void)op.finish(op.math.reshape(takeSlice(op.math, value, dim, part, part + 1, 1), op.type(part).getShape()), part);
  return success();
}

LogicalResult lowerConcatenate(AtenOp& op) {
  SmallVector<Value> parts;
  int64_t rank = op.type().getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  for (Value part : op.tensors("tensors"))
    if (part && rankOf(part) == rank) parts.push_back(op.convert(part, op.element()));  // PyTorch ignores empty vectors
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, dim));
}

LogicalResult lowerStack(AtenOp& op) {
  int64_t dim = wrapDim(op.integer("dim", 0), op.type().getRank());
  SmallVector<int64_t> shape(op.type().getShape());
  shape[dim] = 1;
  SmallVector<Value> parts;
  for (Value part : op.tensors("tensors"))
    if (part) parts.push_back(op.math.reshape(op.convert(part, op.element()), shape));
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, dim));
}

LogicalResult lowerFlip(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims = op.integers("dims");
  for (int64_t& dim : dims) dim = wrapDim(dim, rankOf(value));
  return op.finish(op.math.create<ReverseOp>(value.getType(), value, dims));
}

LogicalResult lowerRoll(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims = op.integers("dims"), shifts = op.integers("shifts");
  if (dims.empty()) return op.error() << "rolls a flattened tensor, which is not supported; name the dimensions";
  for (auto [dim, shift] : llvm::zip(dims, shifts)) {
    int64_t at = wrapDim(dim, rankOf(value)), size = shapeOf(value)[at];
    if (size == 0) continue;
    int64_t cut = ((-shift) % size + size) % size;
    if (cut == 0) continue;
    Value parts[] = {takeSlice(op.math, value, at, cut, size, 1), takeSlice(op.math, value, at, 0, cut, 1)};
    value = op.math.concatenate(parts, at);
  }
  return op.finish(value);
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
  if (!op.has("repeats") || op.tensor("repeats") || !op.has("dim"))
    return op.error()
           << "repeats by a tensor, or flattens, which is not supported; repeat along a dimension by a number";
  int64_t dim = wrapDim(op.integer("dim", 0), rankOf(value));
  SmallVector<int64_t> wide(shapeOf(value)), dims;
  wide.insert(wide.begin() + dim + 1, op.integer("repeats", 1));
  for (int64_t at = 0; at < rankOf(value); ++at) dims.push_back(at <= dim ? at : at + 1);
  return op.finish(op.math.reshape(op.math.broadcast(value, dims, wide), op.type().getShape()));
}

/// Margins from the last dimension on, low and high.
LogicalResult lowerPad(AtenOp& op) {
  Value value = op.tensor("self");
  if (op.text("mode", "constant") != "constant")
    return op.error() << "pads by '" << op.text("mode", "") << "', which is not supported; expected 'constant'";
  SmallVector<int64_t> margins = op.integers("pad"), low(rankOf(value), 0), high(low), none(low);
  for (size_t pair = 0; pair * 2 + 1 < margins.size(); ++pair) {
    size_t dim = low.size() - 1 - pair;
    low[dim] = margins[2 * pair];
    high[dim] = margins[2 * pair + 1];
  }
  Value fill = op.constant(RankedTensorType::get({}, op.element()), op.number("value", 0));
  return op.finish(op.math.create<PadOp>(op.type(), value, fill, low, high, none));
}

LogicalResult lowerArange(AtenOp& op) {
  RankedTensorType wide = op.type().clone(op.math.getBuilder().getI32Type());
  Value counted = op.convert(op.math.create<IotaOp>(wide, 0), op.element());
  double start = op.number("start", 0), step = op.number("step", 1);
  if (step != 1) {
    Value factor = op.splat(step);
    counted = op.math.multiply(counted, factor);
  }
  return op.finish(start == 0 ? counted : op.math.add(counted, op.splat(start)));
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

/// Pictures of r times the size from r^2 channels.
LogicalResult lowerPixelShuffle(AtenOp& op) {
  Value value = op.tensor("self");
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t rank = rankOf(value), factor = op.integer("upscale_factor", 1);
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
  auto add = [&](std::initializer_list<StringRef> names, const OpEntry& entry) {
    for (StringRef name : names) table[name] = entry;
  };
  add({"view.default", "_unsafe_view.default", "reshape.default", "flatten.using_ints", "unflatten.int",
       "squeeze.default", "squeeze.dim", "squeeze.dims", "unsqueeze.default", "view_as.default",
       "_reshape_alias.default", "ravel.default"},
      lowerReshape);
  add({"expand.default", "expand_as.default", "broadcast_to.default"}, lowerExpand);
  add({"permute.default"}, lowerPermute);
  add({"transpose.int", "t.default", "swapaxes.default", "numpy_T.default"}, lowerTranspose);
  add({"mT.default", "mH.default", "adjoint.default"}, {lowerMatrixTranspose, {"self"}, 2});
  add({"movedim.int", "movedim.intlist"}, lowerMoveDim);
  add({"broadcast_tensors.default"}, {lowerBroadcastTensors, {}});
  add({"slice.Tensor"}, {lowerSlice, {"self"}, 1});
  add({"select.int"}, {lowerSelect, {"self"}, 1});
  add({"narrow.default"}, {lowerNarrow, {"self"}, 1});
  add({"split.Tensor", "split.sizes", "split_with_sizes.default", "chunk.default", "tensor_split.sections"},
      {lowerSplit, {"self"}, 1});
  add({"unbind.int"}, {lowerUnbind, {"self"}, 1});
  add({"cat.default", "concat.default"}, {lowerConcatenate, {}});
  add({"stack.default"}, {lowerStack, {}});
  add({"flip.default"}, lowerFlip);
  add({"roll.default"}, lowerRoll);
  add({"repeat.default", "tile.default"}, lowerRepeat);
  add({"repeat_interleave.self_int"}, {lowerRepeatInterleave, {"self"}, 1});
  add({"constant_pad_nd.default", "pad.default"}, lowerPad);
  add({"arange.default", "arange.start", "arange.start_step"}, {lowerArange, {}});
  add({"tril.default"}, {lowerTriangle<true>, {"self"}, 2});
  add({"triu.default"}, {lowerTriangle<false>, {"self"}, 2});
  add({"pixel_shuffle.default"}, {lowerPixelShuffle, {"self"}, 3});
}
