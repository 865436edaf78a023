// Short forms of ops on labelled blocks; labels are those of ring_layout.h, in their order.
#ifndef SGD_PASSES_SHARDING_CONTEXT_BLOCK_MATH_H
#define SGD_PASSES_SHARDING_CONTEXT_BLOCK_MATH_H

#include "passes/sharding/context/ring_layout.h"

namespace mlir::sgd {

class BlockMath {
 public:
  BlockMath(OpBuilder& builder, Location loc, const RingLayout& layout) : math(builder, loc), layout(layout) {}

  /// Contracts what both have and `labels` have not, in f32. Operands of two types are converted to the wider one.
  LabelledValue dot(const LabelledValue& lhs, const LabelledValue& rhs, ArrayRef<int64_t> labels, bool tf32);
  /// Repeated along the labels that it lacks.
  LabelledValue spread(const LabelledValue& value, ArrayRef<int64_t> labels);
  LabelledValue reduce(const LabelledValue& value, ReduceKind kind, int64_t label);

  // Both sides have the same labels, or the right one has fewer and is broadcast.
  LabelledValue add(const LabelledValue& a, const LabelledValue& b);
  LabelledValue subtract(const LabelledValue& a, const LabelledValue& b);
  LabelledValue multiply(const LabelledValue& a, const LabelledValue& b);
  LabelledValue divide(const LabelledValue& a, const LabelledValue& b);
  LabelledValue maximum(const LabelledValue& a, const LabelledValue& b);
  LabelledValue scale(const LabelledValue& a, double factor);
  LabelledValue exponential(const LabelledValue& a);
  /// `condition` may have fewer labels.
  LabelledValue select(const LabelledValue& condition, const LabelledValue& yes, const LabelledValue& no);
  LabelledValue negate(const LabelledValue& condition);
  LabelledValue both(const LabelledValue& a, const LabelledValue& b);
  LabelledValue convert(const LabelledValue& value, Type element);
  LabelledValue splat(double value, ArrayRef<int64_t> labels);

  /// Which rank's block it is: 0, 1, ... along the ranks, i32.
  LabelledValue getRankNumbers();
  /// Numbers of the blocks that arrive with the next shift.
  LabelledValue getPrevious(const LabelledValue& numbers);
  /// Positions along `dim` in blocks of these numbers, i32, with `labels`, which `dim` is one of.
  LabelledValue getPositions(const LabelledValue& numbers, int64_t dim, ArrayRef<int64_t> labels);
  /// Whether a row's number in its block is at least the column's: what a causal mask of striped blocks shows is in it.
  LabelledValue isOnOrBelowDiagonal(ArrayRef<int64_t> labels);
  /// Whether positions along `dim` are real.
  LabelledValue isReal(const LabelledValue& numbers, int64_t dim, ArrayRef<int64_t> labels);

  /// Each rank's block goes to the one so many behind it, in a ring.
  LabelledValue shift(const LabelledValue& value, int64_t ranks = 1);

  TensorMath& getMath() { return math; }
  const RingLayout& getLayout() const { return layout; }

 private:
  LabelledValue integer(int64_t value, ArrayRef<int64_t> labels);

  TensorMath math;
  const RingLayout& layout;
};

}  // namespace mlir::sgd

#endif
