// Lowers reductions: by kind where the body has one, as maximum and position for argmax, else by applying the body to
// halves.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Reduces by single ops; false when a body is none or an accumulator is of another type than its input: it converts in
/// the body, where the single op cannot be of both types.
bool reduceByKinds(OpLowering& l, stablehlo::ReduceOp op) {
  unsigned count = op.getInputs().size();
  SmallVector<ReduceKind> kinds;
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ReduceKind> kind = matchCombiner(op.getBody().front(), i, count);
    if (!kind || l.getElementType(i) != l.getElementType(i + count)) return false;
    kinds.push_back(*kind);
  }
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    RankedTensorType type = l.getResultType(i);
    Value result = l.create<ReduceOp>(type, l.operands[i], kind, op.getDimensions());
    Value init = l.operands[i + count];
    if (!isNeutral(l, init, kind))
      result = createCombiner(l.builder, l.loc, kind, result, l.broadcastScalar(init, type));
    l.results.push_back(result);
  }
  return true;
}

/// The extremum along one dimension and the first position where it is: two reductions that can be computed shard by
/// shard.
bool reduceArgExtremum(OpLowering& l, stablehlo::ReduceOp op) {
  std::optional<ReduceKind> kind = matchArgExtremum(op.getBody().front());
  if (!kind || op.getDimensions().size() != 1 || !isa<IntegerType>(l.getElementType(1))) return false;
  Value input = l.operands[0], positions = l.operands[1];
  // The positions must be the indices, and the initial pair must lose against every element.
  auto iota = positions.getDefiningOp<IotaOp>();
  if (!iota || static_cast<int64_t>(iota.getDimension()) != op.getDimensions()[0] ||
      !isNeutral(l, l.operands[2], *kind))
    return false;
  if (tensorType(input).getDimSize(op.getDimensions()[0]) == 0) return false;
  RankedTensorType type = tensorType(input), positionType = tensorType(positions);
  Value best = l.create<ReduceOp>(l.getResultType(0), input, *kind, op.getDimensions());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != op.getDimensions()[0]) kept.push_back(dim);
  Value everywhere = l.create<BroadcastInDimOp>(type, best, kept);
  Value isBest;
  if (isa<FloatType>(type.getElementType())) {
    // NaN is equal to nothing; where there is one, the extremum is NaN.
    isBest = l.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, input, everywhere);
    isBest = l.create<arith::OrIOp>(isBest, l.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, input, input));
  } else {
    isBest = l.create<arith::CmpIOp>(arith::CmpIPredicate::eq, input, everywhere);
  }
  bool isUnsignedPosition = l.getElementType(1).isUnsignedInteger();
  ReduceKind least = isUnsignedPosition ? ReduceKind::UMin : ReduceKind::Min;
  auto last = cast<IntegerAttr>(getNeutralElement(l.builder, least, positionType.getElementType()));
  Value candidates = l.create<arith::SelectOp>(isBest, positions, l.splat(positionType, last.getValue()));
  l.results.push_back(best);
  l.results.push_back(l.create<ReduceOp>(l.getResultType(1), candidates, least, op.getDimensions()));
  return true;
}

}  // namespace

LogicalResult Importer::importReduce(OpLowering& l) {
  auto op = cast<stablehlo::ReduceOp>(l.op);
  if (reduceByKinds(l, op) || (op.getInputs().size() == 2 && reduceArgExtremum(l, op))) return success();
  return reduceByHalves(l, op);
}

LogicalResult Importer::reduceByHalves(OpLowering& l, stablehlo::ReduceOp op) {
  unsigned count = op.getInputs().size();
  Block& body = op.getBody().front();
  SmallVector<Value> parts(l.operands.take_front(count)), inits(l.operands.drop_front(count));
  for (unsigned i = 0; i < count; ++i)
    if (l.getElementType(i) != l.getElementType(i + count))
      return l.error()
             << "is not supported with a body of several ops and an accumulator of another type than its input";
  auto apply = [&](SmallVector<Value> left, ArrayRef<Value> right, SmallVectorImpl<Value>& combined) {
    llvm::append_range(left, right);
    return importLifted(body, left, combined);
  };
  for (int64_t dim : op.getDimensions()) {
    while (tensorType(parts[0]).getDimSize(dim) > 1) {
      // Neighbours stay in order: the first half with the second, an odd element joins the next round.
      int64_t size = tensorType(parts[0]).getDimSize(dim), half = size / 2;
      SmallVector<Value> left, right, combined;
      for (Value part : parts) {
        left.push_back(l.takeEvery(part, dim, 0, 1, half));
        right.push_back(l.takeEvery(part, dim, half, 1, half));
      }
      if (apply(left, right, combined).failed()) return failure();
      if (size % 2)
        for (auto [value, part] : llvm::zip(combined, parts)) {
          SmallVector<int64_t> shape(tensorType(part).getShape());
          shape[dim] = half + 1;
          Value both[] = {value, l.takeEvery(part, dim, size - 1, 1, 1)};
          value = l.create<ConcatenateOp>(tensorType(part).clone(shape), ValueRange(both), dim);
        }
      parts = combined;
    }
  }
  // Each reduced dimension has one element, or none: then the result is the initial value.
  SmallVector<Value> starts;
  for (unsigned i = 0; i < count; ++i) {
    starts.push_back(l.broadcastScalar(inits[i], l.getResultType(i)));
    if (tensorType(parts[i]).getNumElements() == 0 && l.getResultType(i).getNumElements() != 0) continue;
    parts[i] = l.create<ReshapeOp>(l.getResultType(i), parts[i]);
  }
  bool isEmpty = l.getOperandType(0).getNumElements() == 0;
  if (isEmpty) return llvm::append_range(l.results, starts), success();
  SmallVector<Value> combined;
  if (apply(starts, parts, combined).failed()) return failure();
  llvm::append_range(l.results, combined);
  return success();
}

LogicalResult Importer::importLifted(Block& body, ArrayRef<Value> arguments, SmallVectorImpl<Value>& returned) {
  ArrayRef<int64_t> shape = tensorType(arguments.front()).getShape();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments)) values[argument] = value;
  auto lift = [&](Value value, Location loc) -> Value {
    RankedTensorType type = tensorType(value);
    if (type.getShape() == shape) return value;
    return BroadcastInDimOp::create(builder, loc, type.clone(shape), value, ArrayRef<int64_t>{}).getResult();
  };
  for (Operation& op : body.without_terminator()) {
    Location loc = inlineLocation(op.getLoc(), callStack.back().caller);
    for (Type type : op.getResultTypes())
      if (auto tensor = convertTensorType(type); !tensor || tensor.getRank() != 0)
        return emitError(loc)
               << "'" << op.getName()
               << "' in the body of a reduction is on tensors; expected scalars; write the reduction of one element";
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) operands.push_back(lift(values.lookup(operand), loc));
    // Between scalars these change nothing.
    if (isa<sdy::ShardingConstraintOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op)) {
      values[op.getResult(0)] = operands[0];
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp function = functions.lookup(call.getCalleeAttr().getAttr());
      if (!function || function.isExternal() || !function.getBody().hasOneBlock() ||
          function.getNumArguments() != op.getNumOperands() || function.getNumResults() != op.getNumResults() ||
          llvm::any_of(callStack, [&](const Frame& frame) { return frame.function == function; }))
        return emitError(loc) << "'" << op.getName()
                              << "' in the body of a reduction cannot be inlined; expected a private function of one "
                                 "block; write its ops into the body";
      SmallVector<Value> results;
      callStack.push_back({function, loc});
      if (importLifted(function.getBody().front(), operands, results).failed()) return failure();
      callStack.pop_back();
      for (auto [original, result] : llvm::zip(op.getResults(), results)) values[original] = result;
      continue;
    }
    LowerFn lowering = lowerings.lookup(op.getName());
    if (!lowering || op.getNumRegions() != 0)
      return emitError(loc) << "'" << op.getName()
                            << "' is not supported in the body of a reduction; expected elementwise ops; compute it "
                               "before or after the reduction";
    // The lowering reads element types from the op, and shapes from its results.
    Operation* lifted = op.clone();
    llvm::scope_exit erase([&] { lifted->destroy(); });
    for (OpResult result : lifted->getResults()) result.setType(tensorType(result).clone(shape));
    OpLowering lowered(lifted, operands, builder, loc);
    if (lowering(lowered).failed()) return failure();
    for (auto [original, result] : llvm::zip_equal(op.getResults(), lowered.results))
      values[original] = lift(result, loc);
  }
  for (Value operand : body.getTerminator()->getOperands())
    returned.push_back(lift(values.lookup(operand), operand.getLoc()));
  return success();
}
