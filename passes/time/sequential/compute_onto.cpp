// Saves a second buffer, and its addition.
#include "passes/time/sequential/compute_onto.h"

#include "passes/sharding/propagation/loop_addends.h"
#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

/// Sums that are scattered onto zeros, as the gradient of an embedding is, are scattered onto the accumulator instead,
/// of which each iteration then touches a few rows. Null for other values.
static Value scatterOnto(Value sum, Value value, ReduceKind kind) {
  auto scatter = value.getDefiningOp<ScatterOp>();
  if (!scatter || kind != ReduceKind::Add || scatter.getKind() != ScatterKind::Add ||
      !isNeutralConstant(scatter.getInput(), kind))
    return {};
  scatter.getInputMutable().assign(sum);
  return scatter.getResult();
}

/// Sums that a loop of the program adds up from zeros, as gradients of a recurrent layer are, are added to the
/// accumulator instead. Null for other values.
static Value addUpOnto(Value sum, Value value, ReduceKind kind) {
  auto loop = value.getDefiningOp<WhileOp>();
  if (!loop) return {};
  unsigned iterArg = cast<OpResult>(value).getResultNumber();
  SmallVector<OpOperand*> addends = getLoopAddends(loop, iterArg, kind);
  bool negates = llvm::any_of(addends, [](OpOperand* addend) {
    return addend->getOperandNumber() == 0 && isa<arith::SubFOp, arith::SubIOp>(addend->getOwner());
  });
  if (addends.empty() || negates || !isNeutralConstant(loop.getInits()[iterArg], kind)) return {};
  loop.getInitsMutable()[iterArg].assign(sum);
  return value;
}

Value mlir::sgd::computeOnto(Value sum, Value value, ReduceKind kind) {
  Value scattered = scatterOnto(sum, value, kind);
  return scattered ? scattered : addUpOnto(sum, value, kind);
}
