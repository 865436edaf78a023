// Gradients of the values of a block while it is swept in reverse.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_PULLBACK_H
#define SGD_PASSES_GRAPH_AUTODIFF_PULLBACK_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// Unit attribute of an op whose results are taken for constants: no gradient goes through it.
inline constexpr llvm::StringLiteral kNoGradientAttr = "sgd.no_gradient";

/// What depends on what: the values of a block that are computed from given ones.
class ActiveValues {
 public:
  ActiveValues() = default;
  /// Of `block`: floats that depend on `inputs`, through floats. An op with sgd.no_gradient, and one that is flat
  /// wherever it has a derivative (a comparison, a rounding), passes nothing on.
  ActiveValues(Block& block, ValueRange inputs);

  bool contains(Value value) const { return values.contains(value); }

 private:
  llvm::DenseSet<Value> values;
};

/// By iter_arg of `loop`: whether it depends, in some trip, on one that `isVaried` has set.
llvm::BitVector findVariedIterArgs(WhileOp loop, llvm::BitVector isVaried);

/// Sums up gradients; null stands for zero.
class Pullback {
 public:
  /// Of the values in `active`. Writes at the insertion point of `builder`.
  Pullback(OpBuilder& builder, const ActiveValues& active) : math(builder, builder.getUnknownLoc()), active(active) {}

  /// Whether a gradient of `value` is wanted.
  bool wants(Value value) const { return active.contains(value); }
  Value get(Value value) const { return gradients.lookup(value); }
  /// Returns the gradient of `value`, which is complete, and forgets it.
  Value take(Value value);

  /// `gradient`, of the type of `value`, comes in addition. Nothing where none is wanted or it is null.
  void add(Value value, Value gradient);
  /// Likewise for a part of `value`: `accumulate` returns what it is given, a tensor of the type of `value`, with the
  /// part added.
  void addPart(Value value, llvm::function_ref<Value(Value)> accumulate);
  /// The gradient of `value` is `gradient` from now on.
  void set(Value value, Value gradient) { gradients[value] = gradient; }

  /// Rows of a stack that a loop visits once each: their gradients need not be added up (see loop_rules.cpp).
  void addRowsOnce(Value stack) { rowsOnce.insert(stack); }
  bool visitsRowsOnce(Value stack) const { return rowsOnce.contains(stack); }

  /// Ops are written at the location of `loc` from now on.
  void setLoc(Location loc) { math.setLoc(loc); }

  Value getZeros(Value like) { return math.splat(tensorType(like), 0.0); }

  TensorMath math;

 private:
  const ActiveValues& active;
  llvm::DenseMap<Value, Value> gradients;
  llvm::DenseSet<Value> rowsOnce;
};

/// Whether gradients are defined for elements of this type.
inline bool hasGradients(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

}  // namespace mlir::sgd

#endif
