// Short forms of ops on tensors: arithmetic that passes write.
#ifndef SGD_PASSES_GRAPH_EXPRESSIONS_TENSOR_MATH_H
#define SGD_PASSES_GRAPH_EXPRESSIONS_TENSOR_MATH_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"

namespace mlir::sgd {

/// Writes ops at the builder's insertion point. Operands of one op have one type; arithmetic is that of their elements,
/// floats or signed integers.
class TensorMath {
 public:
  TensorMath(OpBuilder& builder, Location loc) : builder(builder), loc(loc) {}

  /// `OpTy(arguments...)`: ops without a short form.
  template <typename OpTy, typename... Args>
  Value create(Args&&... args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  /// The same value where it has this shape.
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// Dimension `dim` with `size` elements: cut, or padded with zeros.
  Value resize(Value value, int64_t dim, int64_t size);
  Value slice(Value value, ArrayRef<int64_t> begins, ArrayRef<int64_t> ends);
  Value concatenate(ArrayRef<Value> values, int64_t dim);
  /// Dimension i of `value` becomes dimension dims[i] of `shape`.
  Value broadcast(Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape);
  /// With a last dimension of `size` equal elements.
  Value repeat(Value value, int64_t size);
  Value iota(ArrayRef<int64_t> shape, int64_t dim);
  /// Without dimensions `dims`.
  Value reduce(Value value, ReduceKind kind, ArrayRef<int64_t> dims);

  /// Returns the elements of a vector at `positions`, i32.
  Value take(Value value, Value positions);
  /// Returns a vector with `updates` added at `positions`, or written there.
  Value put(Value value, Value positions, Value updates, ScatterKind kind);
  /// Returns the positions of the `k` largest elements of a vector.
  Value findLargest(Value value, int64_t k);
  /// Contracts dimension `a` of `lhs` with dimension `b` of `rhs`, in f32.
  Value dot(Value lhs, Value rhs, int64_t a, int64_t b);

  /// A constant whose elements are all `value`.
  Value splat(RankedTensorType type, double value);
  Value splat(RankedTensorType type, int64_t value);
  /// Returns a constant of f32 in the shape of `like`.
  Value splat(double value, Value like);
  /// A vector of f32 between -1 and 1, as random as a hash of positions is.
  Value random(int64_t size);
  /// A constant of i32, a scalar.
  Value index(int64_t value);

  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  Value divide(Value a, Value b);  ///< of floats
  Value minus(Value value);        ///< likewise
  Value maximum(Value a, Value b);
  Value minimum(Value a, Value b);
  Value absolute(Value value);
  Value inverseRoot(Value value);
  Value exponential(Value value);
  Value isLess(Value a, Value b);     ///< false where one is NaN
  Value isAtLeast(Value a, Value b);  ///< likewise
  Value isEqual(Value a, Value b);
  Value both(Value a, Value b);  ///< of booleans
  Value negate(Value condition);
  Value select(Value condition, Value yes, Value no);

  /// To the nearest integer of 8 bits, to even where two are as near.
  Value toInt8(Value value);
  /// Converts integers.
  Value toFloat(Value value);
  /// Floats of 16 or 32 bits with this element type.
  Value convert(Value value, Type element);

  OpBuilder& getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  void setLoc(Location of) { loc = of; }

 protected:
  OpBuilder& builder;
  Location loc;
};

}  // namespace mlir::sgd

#endif
