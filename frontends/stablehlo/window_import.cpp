// Lowers reduce_window with any body, and map: bodies are applied to slices element by element.
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
    if (!window.fits(l.getOperandType(i))) return l.error() << "has a window of another rank than its operand";
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
