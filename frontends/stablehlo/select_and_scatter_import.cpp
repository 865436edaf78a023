// Lowers select_and_scatter, the gradient of pooling. First each window selects one of its elements, position after
// position as StableHLO defines it, padding left out: a body that is false for NaN, like GE, goes on to the next
// element, so that no separable maximum can say which one it is. Then the windows' source values go to that position.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/window.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The element of `padded` at one position of every window.
Value takePosition(OpLowering& l, Value padded, const Window& window, ArrayRef<int64_t> windows,
                   ArrayRef<int64_t> position) {
  for (auto [dim, count] : llvm::enumerate(windows))
    padded = l.takeEvery(padded, static_cast<int64_t>(dim), position[dim], window.strides[dim], count);
  return padded;
}

Value invert(OpLowering& l, Value flags) {
  return l.create<arith::XOrIOp>(flags, l.splat(tensorType(flags), APInt(1, 1)));
}

/// Whether `position` is an element of the operand, by window, along one dimension of which it has `size`: as a tensor
/// of that dimension. Null where it always is.
Value isInsideAlong(OpLowering& l, const Window& window, int64_t dim, int64_t position, int64_t size, int64_t windows) {
  int64_t first = position - window.low[dim], last = first + (windows - 1) * window.strides[dim];
  if (first >= 0 && last < size) return Value();
  auto type = RankedTensorType::get({windows}, l.builder.getI64Type());
  Value element = l.create<IotaOp>(type, 0);
  element = l.create<arith::MulIOp>(element, l.splat(type, APInt(64, window.strides[dim])));
  element = l.create<arith::AddIOp>(element, l.splat(type, APInt(64, first, /*isSigned=*/true)));
  // Negative numbers are large unsigned ones.
  return l.create<arith::CmpIOp>(arith::CmpIPredicate::ult, element, l.splat(type, APInt(64, size)));
}

/// Whether `position` of each window is an element of the operand; null where it always is.
Value isInside(OpLowering& l, const Window& window, RankedTensorType flags, ArrayRef<int64_t> position) {
  Value inside;
  ArrayRef<int64_t> shape = l.getOperandType(0).getShape();
  for (int64_t dim = 0; dim < flags.getRank(); ++dim) {
    Value along = isInsideAlong(l, window, dim, position[dim], shape[dim], flags.getDimSize(dim));
    if (!along) continue;
    along = l.create<BroadcastInDimOp>(flags, along, ArrayRef<int64_t>{dim});
    inside = inside ? l.create<arith::AndIOp>(inside, along) : along;
  }
  return inside;
}

/// The sum over all positions in a window of `makePart`'s result for each, placed at that position in the
/// operand; what falls on its padding is dropped. Parts are placed dimension by dimension, the last one first: fewer,
/// smaller moves.
Value placeParts(OpLowering& l, RankedTensorType operand, const Window& window, Value zero,
                 SmallVector<int64_t>& position, llvm::function_ref<Value(ArrayRef<int64_t>)> makePart) {
  int64_t dim = position.size(), rank = operand.getRank();
  if (dim == rank) return makePart(position);
  Value sum;
  for (int64_t offset = 0; offset < window.sizes[dim]; ++offset) {
    position.push_back(offset);
    Value part = placeParts(l, operand, window, zero, position, makePart);
    position.pop_back();
    int64_t count = tensorType(part).getDimSize(dim), stride = window.strides[dim], size = operand.getDimSize(dim);
    SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0), shape(tensorType(part).getShape());
    low[dim] = offset - window.low[dim];
    high[dim] = size - low[dim] - ((count - 1) * stride + 1);
    interior[dim] = stride - 1;
    shape[dim] = size;
    if (low[dim] != 0 || high[dim] != 0 || interior[dim] != 0)
      part = l.create<PadOp>(operand.clone(shape), part, zero, low, high, interior);
    sum = sum ? createCombiner(l.builder, l.loc, ReduceKind::Add, sum, part) : part;
  }
  return sum;
}

/// Source values added up where they go.
Value addToPositions(OpLowering& l, const Window& window, Value positions) {
  Value source = l.operands[1];
  RankedTensorType type = tensorType(source);
  auto makeZero = [&](RankedTensorType of) {
    return l.create<arith::ConstantOp>(cast<TypedAttr>(l.builder.getZeroAttr(of)));
  };
  Value zero = makeZero(type), padding = makeZero(RankedTensorType::get({}, type.getElementType()));
  SmallVector<int64_t> position;
  int64_t number = 0;
  // Parts are asked for in row-major order.
  return placeParts(l, l.getResultType(), window, padding, position, [&](ArrayRef<int64_t>) -> Value {
    Value own = l.splat(tensorType(positions), APInt(32, number++));
    Value isOwn = l.create<arith::CmpIOp>(arith::CmpIPredicate::eq, positions, own);
    return l.create<arith::SelectOp>(isOwn, source, zero);
  });
}

}  // namespace

LogicalResult Importer::importSelectAndScatter(OpLowering& l) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  RankedTensorType type = l.getResultType(), windows = l.getOperandType(1);
  for (Region* region : {&op.getSelect(), &op.getScatter()})
    if (region->front().getNumArguments() != 2 || region->front().getTerminator()->getNumOperands() != 1)
      return l.error() << "bodies must take two scalars and return one";
  if (!op.getWindowDimensions()) return l.error() << "needs window_dimensions";
  Window window(*op.getWindowDimensions(), op.getWindowStrides(), std::nullopt, std::nullopt, op.getPadding(),
                type.getRank());
  if (!window.fits(type)) return l.error() << "has a window of another rank than its operand";
  Value init = l.broadcastScalar(l.operands[2], type);
  if (windows.getNumElements() == 0 || type.getNumElements() == 0) return l.finish(init);
  FailureOr<Value> positions = selectPositions(l, window);
  if (failed(positions)) return failure();
  bool adds = matchCombiner(op.getScatter().front(), 0, 1) == ReduceKind::Add;
  if (adds && isNeutral(l, l.operands[2], ReduceKind::Add)) return l.finish(addToPositions(l, window, *positions));
  return scatterToPositions(l, window, *positions, init);
}

FailureOr<Value> Importer::selectPositions(OpLowering& l, const Window& window) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  RankedTensorType windows = l.getOperandType(1);
  RankedTensorType flags = windows.clone(builder.getI1Type()), numbers = windows.clone(builder.getI32Type());
  Value padded = padOperand(l, l.operands[0], l.operands[2], window);
  // Of each window: the element selected so far, its position, and whether there is one: null when there always is. A
  // window without any has position 0, which is in the padding as all of its positions are.
  Value selected, positions, found;
  int64_t number = 0;
  LogicalResult result = success();
  forEachPosition(window.sizes, [&](ArrayRef<int64_t> position) {
    if (failed(result)) return;
    Value here = takePosition(l, padded, window, windows.getShape(), position);
    Value inside = isInside(l, window, flags, position), own = l.splat(numbers, APInt(32, number));
    if (number++ == 0) {
      selected = here, positions = own, found = inside;
      return;
    }
    SmallVector<Value> keeps;
    result = importLifted(op.getSelect().front(), {selected, here}, keeps);
    if (failed(result)) return;
    Value keepsOld = found ? l.create<arith::AndIOp>(keeps[0], found) : keeps[0];
    if (inside) keepsOld = l.create<arith::OrIOp>(keepsOld, invert(l, inside));
    selected = l.create<arith::SelectOp>(keepsOld, selected, here);
    positions = l.create<arith::SelectOp>(keepsOld, positions, own);
    found = found && inside ? l.create<arith::OrIOp>(found, inside) : Value();
  });
  if (failed(result)) return failure();
  return positions;
}

LogicalResult Importer::scatterToPositions(OpLowering& l, const Window& window, Value positions, Value init) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  RankedTensorType type = l.getResultType(), windows = l.getOperandType(1);
  Value outside = l.splat(RankedTensorType::get({}, builder.getI1Type()), APInt(1, 0));
  // A position meets every element at most once: what is scattered there is combined element by element.
  Value sum = padOperand(l, init, l.operands[2], window);
  ArrayRef<int64_t> padded = tensorType(sum).getShape();
  int64_t number = 0;
  LogicalResult result = success();
  forEachPosition(window.sizes, [&](ArrayRef<int64_t> position) {
    if (failed(result)) return;
    Value own = l.splat(tensorType(positions), APInt(32, number++));
    Value isOwn = l.create<arith::CmpIOp>(arith::CmpIPredicate::eq, positions, own);
    SmallVector<int64_t> high, interior;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      interior.push_back(window.strides[dim] - 1);
      high.push_back(padded[dim] - position[dim] - ((windows.getDimSize(dim) - 1) * window.strides[dim] + 1));
    }
    auto spread = [&](Value value, Value rest) {
      return l.create<PadOp>(tensorType(value).clone(padded), value, rest, position, high, interior);
    };
    Value update = spread(l.operands[1], l.operands[2]), isUpdated = spread(isOwn, outside);
    SmallVector<Value> combined;
    result = importLifted(op.getScatter().front(), {update, sum}, combined);
    if (succeeded(result)) sum = l.create<arith::SelectOp>(isUpdated, combined[0], sum);
  });
  if (failed(result)) return failure();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (padded[dim] != type.getDimSize(dim)) sum = l.takeEvery(sum, dim, window.low[dim], 1, type.getDimSize(dim));
  return l.finish(sum);
}
