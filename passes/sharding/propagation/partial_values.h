// Which ops may act on a partial value (summands on several ranks) as if it were the reduced one: linear ones, within
// what types and precision allow.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PARTIAL_VALUES_H
#define SGD_PASSES_SHARDING_PROPAGATION_PARTIAL_VALUES_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// True when `op`, applied to the summands of operand `operand` and with its other operands whole, gives summands of
/// its result: op(reduce(x)) = reduce(op(x)) for reductions of `kind`, and no summand is rounded to fewer bits than the
/// sum. Adding and subtracting are linear in both operands together: see `joinsPartials`.
bool carriesPartial(Operation* op, unsigned operand, ReduceKind kind);

/// True when `op` on two values that are both partial (same axes, `kind`) gives summands of its result: x + y, x - y,
/// max(x, y), ...
bool joinsPartials(Operation* op, ReduceKind kind);

/// Returns the tensor of an op that reads a block at a run-time offset, both operands of one that writes it, or none.
SmallVector<OpOperand*, 2> getBlockOperands(Operation* op);

/// The operands of `op` that are partial by `kind`, as `isPartial` says of operands, where `op` gives summands of its
/// result for summands of these and the reduced other operands; empty where it does not. All of them are partial over
/// the same axes.
SmallVector<OpOperand*, 2> getCarriers(Operation* op, ReduceKind kind, llvm::function_ref<bool(OpOperand&)> isPartial);

/// True when `op` puts summands of a block among summands of what the block becomes a part of, or reads such a block.
bool movesPartialBlock(Operation* op);

/// True when `op` concatenates summands, all of them over the same ranks, to summands of the whole.
bool joinsPartialRows(Operation* op);

/// True when `op` multiplies or divides operand `operand` by a constant, the same on all ranks.
bool scalesPartial(Operation* op, unsigned operand);

/// True when `op` multiplies its other operand, or divides it, by operand `operand`: beside summands of `kind` this is
/// a factor, which all ranks have whole.
bool isFactor(Operation* op, unsigned operand, ReduceKind kind);

/// On a constant or reshard of a partial type (UnitAttr): every rank has the whole value, since it is a factor of
/// summands and not a summand itself. The types of an op's operands are equal.
inline constexpr llvm::StringLiteral kFactorAttr = "sgd.factor";

/// True when `value` is a constant whose elements all equal the neutral element of `kind`.
bool isNeutralConstant(Value value, ReduceKind kind);

}  // namespace mlir::sgd

#endif
