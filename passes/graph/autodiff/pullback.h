// Gradients of the values of a block while it is swept in reverse.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_PULLBACK_H
#define SGD_PASSES_GRAPH_AUTODIFF_PULLBACK_H

#include "dialects/sgd/no_gradient.h"
#include "dialects/sgd/phase.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// The values of a block that depend on given inputs.
class ActiveValues {
 public:
  ActiveValues() = default;
  /// Finds the floats of `block` that depend on `inputs` through floats. Ops with sgd.no_gradient and flat ops
  /// (comparisons, roundings) break the dependence.
  ActiveValues(Block& block, ValueRange inputs);

  bool contains(Value value) const { return values.contains(value); }

 private:
  llvm::DenseSet<Value> values;
};

/// Returns, per iter_arg of `loop`, whether it depends in some trip on an iter_arg that is set in `isVaried`.
llvm::BitVector findVariedIterArgs(WhileOp loop, llvm::BitVector isVaried);

/// Accumulates gradients during a reverse sweep. A null value stands for a zero gradient.
class Pullback {
 public:
  /// Accumulates gradients of the values in `active`; writes ops at the insertion point of `builder`.
  Pullback(OpBuilder& builder, const ActiveValues& active) : math(builder, builder.getUnknownLoc()), active(active) {}

  /// Returns whether the sweep needs the gradient of `value`.
  bool wants(Value value) const { return active.contains(value); }
  Value get(Value value) const { return gradients.lookup(value); }
  /// Removes and returns the gradient of `value`.
  Value take(Value value);

  /// Adds `gradient`, which has the type of `value`. Does nothing if it is null or not needed.
  void add(Value value, Value gradient);
  /// Adds the gradient of a part of `value`: `accumulate` receives the gradient so far and returns it with the part
  /// added.
  void addPart(Value value, llvm::function_ref<Value(Value)> accumulate);
  /// Replaces the gradient of `value`.
  void set(Value value, Value gradient) { gradients[value] = gradient; }

  /// Marks a tensor whose rows a loop visits once each, so that their gradients are stored without being added up.
  void addRowsOnce(Value stack) { rowsOnce.insert(stack); }
  bool visitsRowsOnce(Value stack) const { return rowsOnce.contains(stack); }

  /// Sets the location of ops written from now on, which are marked as those of the backward pass.
  void setLoc(Location loc) { math.setLoc(markPhase(loc, Phase::Backward)); }

  Value getZeros(Value like) { return math.splat(tensorType(like), 0.0); }

  TensorMath math;

 private:
  const ActiveValues& active;
  llvm::DenseMap<Value, Value> gradients;
  llvm::DenseSet<Value> rowsOnce;
};

/// Returns whether values of this type have gradients: tensors of floats do.
inline bool hasGradients(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

}  // namespace mlir::sgd

#endif
