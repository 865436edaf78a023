// From what is linear in numbers to what may be done. Floating-point rounding differs with the place of a reduction.
#include "passes/sharding/propagation/partial_values.h"

#include "dialects/sgd/splat.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isNeutralConstant(Value value, ReduceKind kind) {
  SplatElementsAttr splat = getSplatElements(value);
  if (!splat) return false;
  OpBuilder builder(value.getContext());
  return splat.getSplatValue<Attribute>() == getNeutralElement(builder, kind, splat.getElementType());
}

bool mlir::sgd::joinsPartials(Operation* op, ReduceKind kind) {
  auto isJoined = [&](unsigned operand) { return getLinearity(op, operand, kind) == Linearity::Together; };
  return op->getNumOperands() == 2 && isJoined(0) && isJoined(1);
}

/// The op gives floats of fewer bits: summands would be rounded, not their sum.
static bool roundsMore(Operation* op, unsigned operand) {
  Type from = getElementTypeOrSelf(op->getOperand(operand)), to = getElementTypeOrSelf(op->getResult(0));
  return isa<FloatType>(from) && to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
}

bool mlir::sgd::carriesPartial(Operation* op, unsigned operand, ReduceKind kind) {
  // x + 0: the first step of a sum that a frontend writes as a loop.
  if (joinsPartials(op, kind)) return isNeutralConstant(op->getOperand(1 - operand), kind);
  if (getLinearity(op, operand, kind) != Linearity::Alone || roundsMore(op, operand)) return false;
  // Multiplication by any whole value is linear too, but arith wants one type for all operands.
  return llvm::all_of(op->getOpOperands(), [&](OpOperand& other) {
    return other.getOperandNumber() == operand || getSplatElements(other.get());
  });
}

SmallVector<OpOperand*, 2> mlir::sgd::getBlockOperands(Operation* op) {
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) return {&update.getInputMutable(), &update.getUpdateMutable()};
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) return {&slice.getInputMutable()};
  return {};
}

bool mlir::sgd::movesPartialBlock(Operation* op) {
  SmallVector<OpOperand*, 2> operands = getBlockOperands(op);
  if (operands.empty()) return false;
  Value part = operands.size() == 2 ? operands[1]->get() : op->getResult(0);
  ShardingAttr whole = getSharding(operands[0]->get().getType()), block = getSharding(part.getType());
  return whole && block && whole.isPartial() && whole.getUnreduced() == block.getUnreduced() &&
         whole.getUnreducedKind() == block.getUnreducedKind();
}

bool mlir::sgd::joinsPartialRows(Operation* op) {
  if (!isa<ConcatenateOp>(op)) return false;
  ShardingAttr joined = getSharding(op->getResult(0).getType());
  return joined && joined.isPartial() && llvm::all_of(op->getOperands(), [&](Value operand) {
           ShardingAttr own = getSharding(operand.getType());
           return own.getUnreduced() == joined.getUnreduced() && own.getUnreducedKind() == joined.getUnreducedKind();
         });
}

SmallVector<OpOperand*, 2> mlir::sgd::getCarriers(Operation* op, ReduceKind kind,
                                                  llvm::function_ref<bool(OpOperand&)> isPartial) {
  SmallVector<OpOperand*, 2> partial;
  for (OpOperand& operand : op->getOpOperands())
    if (isPartial(operand)) partial.push_back(&operand);
  if (op->getNumResults() != 1 || partial.empty()) return {};
  if (isa<ConcatenateOp>(op) || joinsPartials(op, kind)) {
    // An operand without any is partial as it is: the neutral element.
    bool areAll = llvm::all_of(op->getOpOperands(), [&](OpOperand& operand) {
      return llvm::is_contained(partial, &operand) || isNeutralConstant(operand.get(), kind);
    });
    if (!areAll) return {};
    return llvm::map_to_vector<2>(op->getOpOperands(), [](OpOperand& operand) { return &operand; });
  }
  if (SmallVector<OpOperand*, 2> blocks = getBlockOperands(op); !blocks.empty())
    return blocks == partial ? blocks : SmallVector<OpOperand*, 2>();
  // Operands of other ops that are elementwise are of one type: a factor would be partial too.
  if (partial.size() > 1 || !carriesPartial(op, partial[0]->getOperandNumber(), kind)) return {};
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() > 1) return {};
  return partial;
}

bool mlir::sgd::isFactor(Operation* op, unsigned operand, ReduceKind kind) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 2 && !joinsPartials(op, kind) &&
         getLinearity(op, 1 - operand, kind) == Linearity::Alone;
}

bool mlir::sgd::scalesPartial(Operation* op, unsigned operand) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 2 &&
         getLinearity(op, operand, ReduceKind::Add) == Linearity::Alone &&
         getSplatElements(op->getOperand(1 - operand));
}
