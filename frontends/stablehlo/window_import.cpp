// Lowers reduce_window and select_and_scatter with any body, and map: bodies are applied to slices element by element.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/window.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult Importer::importMap(OpLowering& l) {
  auto op = cast<stablehlo::MapOp>(l.op);
  if (l.operands.empty() || l.operands.size() != op.getComputation().front().getNumArguments())
    return l.error() << "needs as many operands as its body has arguments, at least one";
  SmallVector<Value> results;
  if (importLifted(op.getComputation().front(), SmallVector<Value>(l.operands), results).failed()) return failure();
  if (results.size() != 1 || results[0].getType() != l.getResultType())
    return l.error() << "has a body that does not give elements of its result's type";
  return l.finish(results[0]);
}

static bool fitsWindow(Window& window, RankedTensorType type) {
  return window.isConsistent(type.getRank()) && static_cast<int64_t>(window.low.size()) == type.getRank();
}

LogicalResult Importer::importReduceWindow(OpLowering& l) {
  auto op = cast<stablehlo::ReduceWindowOp>(l.op);
  unsigned count = op.getInputs().size();
  Block& body = op.getBody().front();
  if (count == 0 || body.getNumArguments() != 2 * count || body.getTerminator()->getNumOperands() != count)
    return l.error() << "body must take two scalars for each operand and return one";
  SmallVector<std::optional<ReduceKind>> kinds;
  Tuple padded, inits;
  Window window(op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(), op.getWindowDilations(),
                op.getPadding(), l.getOperandType().getRank());
  for (unsigned i = 0; i < count; ++i) {
    if (!fitsWindow(window, l.getOperandType(i))) return l.error() << "has a window of another rank than its operand";
    if (l.getElementType(i) != l.getElementType(i + count))
      return l.error()
             << "with an initial value of another type than its operand is not supported; convert the operand";
    kinds.push_back(matchCombiner(body, i, count));
    inits.push_back(l.broadcastScalar(l.operands[i + count], l.getResultType(i)));
  }
  if (l.getResultType().getNumElements() == 0) return llvm::append_range(l.results, inits), success();
  for (unsigned i = 0; i < count; ++i) padded.push_back(padOperand(l, l.operands[i], l.operands[i + count], window));
  ArrayRef<int64_t> shape = l.getResultType().getShape();
  if (llvm::all_of(kinds, [](auto kind) { return kind.has_value(); })) {
    for (unsigned i = 0; i < count; ++i) {
      Value result = lowerCumulative(l, l.operands[i], window, *kinds[i]);
      if (!result) result = combineWindows(l, padded[i], window, shape, *kinds[i]);
      if (!isNeutral(l, l.operands[i + count], *kinds[i]))
        result = createCombiner(l.builder, l.loc, *kinds[i], result, inits[i]);
      l.results.push_back(result);
    }
    return success();
  }
  auto combine = [&](ArrayRef<Value> left, ArrayRef<Value> right) -> FailureOr<Tuple> {
    SmallVector<Value> arguments(left), combined;
    llvm::append_range(arguments, right);
    if (importLifted(body, arguments, combined).failed()) return failure();
    return Tuple(combined.begin(), combined.end());
  };
  FailureOr<Tuple> windows = combineWindows(l, padded, window, shape, combine);
  FailureOr<Tuple> results = failed(windows) ? windows : combine(inits, *windows);
  if (failed(results)) return failure();
  llvm::append_range(l.results, *results);
  return success();
}

LogicalResult Importer::importSelectAndScatter(OpLowering& l) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  RankedTensorType type = l.getResultType(), windows = l.getOperandType(1);
  for (Region* region : {&op.getSelect(), &op.getScatter()})
    if (region->front().getNumArguments() != 2 || region->front().getTerminator()->getNumOperands() != 1)
      return l.error() << "bodies must take two scalars and return one";
  if (!op.getWindowDimensions()) return l.error() << "needs window_dimensions";
  Window window(*op.getWindowDimensions(), op.getWindowStrides(), std::nullopt, std::nullopt, op.getPadding(),
                type.getRank());
  if (!fitsWindow(window, type)) return l.error() << "has a window of another rank than its operand";
  Value init = l.broadcastScalar(l.operands[2], type);
  if (windows.getNumElements() == 0 || type.getNumElements() == 0) return l.finish(init);
  return lowerMaximumGradient(l, window) ? success() : selectAndScatter(l, window, init);
}

LogicalResult Importer::selectAndScatter(OpLowering& l, const Window& window, Value init) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  RankedTensorType type = l.getResultType(), windows = l.getOperandType(1);
  RankedTensorType flags = windows.clone(builder.getI1Type()), numbers = windows.clone(builder.getI32Type());
  Value inside = l.splat(type.clone(builder.getI1Type()), APInt(1, 1)),
        outside = l.splat(RankedTensorType::get({}, builder.getI1Type()), APInt(1, 0));
  Value padded = padOperand(l, l.operands[0], l.operands[2], window), exists = padOperand(l, inside, outside, window);
  ArrayRef<int64_t> paddedShape = typeOf(padded).getShape();
  auto takeWindows = [&](Value value, ArrayRef<int64_t> offsets) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      value = l.takeEvery(value, dim, offsets[dim], window.strides[dim], windows.getDimSize(dim));
    return value;
  };
  // Of each window: the element chosen so far, the number of its position, and whether there is one.
  Value chosen, position, found;
  int64_t number = 0;
  LogicalResult result = success();
  forEachPosition(window.sizes, [&](ArrayRef<int64_t> offsets) {
    if (failed(result)) return;
    Value here = takeWindows(padded, offsets), isHere = takeWindows(exists, offsets);
    Value own = l.splat(numbers, APInt(32, number));
    if (number++ == 0) {
      chosen = here, position = own, found = isHere;
      return;
    }
    SmallVector<Value> keeps;
    result = importLifted(op.getSelect().front(), {chosen, here}, keeps);
    if (failed(result)) return;
    Value keepsOld = l.create<arith::AndIOp>(keeps[0], found);
    Value takes = l.create<arith::AndIOp>(isHere, l.create<arith::XOrIOp>(keepsOld, l.splat(flags, APInt(1, 1))));
    chosen = l.create<arith::SelectOp>(takes, here, chosen);
    position = l.create<arith::SelectOp>(takes, own, position);
    found = l.create<arith::OrIOp>(found, isHere);
  });
  // A position meets every element at most once: what is scattered there is combined element by element.
  Value sum = padOperand(l, init, l.operands[2], window);
  number = 0;
  forEachPosition(window.sizes, [&](ArrayRef<int64_t> offsets) {
    if (failed(result)) return;
    Value isOwn = l.create<arith::CmpIOp>(arith::CmpIPredicate::eq, position, l.splat(numbers, APInt(32, number++)));
    Value takes = l.create<arith::AndIOp>(isOwn, found);
    SmallVector<int64_t> high, interior;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      interior.push_back(window.strides[dim] - 1);
      high.push_back(paddedShape[dim] - offsets[dim] - ((windows.getDimSize(dim) - 1) * window.strides[dim] + 1));
    }
    auto spread = [&](Value value, Value rest) {
      return l.create<PadOp>(typeOf(value).clone(paddedShape), value, rest, offsets, high, interior);
    };
    Value update = spread(l.operands[1], l.operands[2]), isUpdated = spread(takes, outside);
    SmallVector<Value> combined;
    result = importLifted(op.getScatter().front(), {update, sum}, combined);
    if (succeeded(result)) sum = l.create<arith::SelectOp>(isUpdated, combined[0], sum);
  });
  if (failed(result)) return failure();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (paddedShape[dim] != type.getDimSize(dim)) sum = l.takeEvery(sum, dim, window.low[dim], 1, type.getDimSize(dim));
  return l.finish(sum);
}
