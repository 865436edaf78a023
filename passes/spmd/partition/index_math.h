// Arithmetic on tensors of indices, for rules that compute the positions of a shard's elements.
#ifndef SGD_PASSES_SPMD_PARTITION_INDEX_MATH_H
#define SGD_PASSES_SPMD_PARTITION_INDEX_MATH_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// Ops on signed indices of 32 bits, or of 64 where a size does not fit.
class IndexMath : public TensorMath {
 public:
  /// `sizes`: what indices may point into.
  IndexMath(OpBuilder& builder, Location loc, ArrayRef<int64_t> sizes);

  /// Integers of any width as indices, clamped to [low, high].
  Value convert(Value integers, bool isUnsigned, int64_t low, int64_t high);

  Value splat(int64_t value, ArrayRef<int64_t> shape);
  /// 0, 1, ... along the only dimension.
  Value iota(int64_t size);

  using TensorMath::multiply;
  Value multiply(Value lhs, int64_t rhs);
  Value clamp(Value value, int64_t low, int64_t high);
  /// low <= value < high, as booleans.
  Value isInRange(Value value, int64_t low, int64_t high);
  /// Either may be null: the other.
  Value conjunction(Value lhs, Value rhs);
  /// `mask` ? value : other.
  Value select(Value mask, Value value, int64_t other);

 private:
  Value splatLike(Value value, int64_t number) { return TensorMath::splat(tensorType(value), number); }

  IntegerType type;
};

/// Elements `indices` (of one dimension) of `input` along `dim`, clamped to it.
Value createTake(OpBuilder& builder, Location loc, Value input, int64_t dim, Value indices);

/// `value` where `mask`, whose dimension i is dimension dims[i] of `value`, is true; else what changes no sum, bit for
/// bit: zero, of floats the negative one.
Value createMasked(OpBuilder& builder, Location loc, Value value, Value mask, ArrayRef<int64_t> dims);

}  // namespace mlir::sgd

#endif
