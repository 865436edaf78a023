// Arithmetic on floats of one type, for functions that are written down as in a paper.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_FLOAT_MATH_H
#define SGD_PASSES_GRAPH_FUNCTIONS_FLOAT_MATH_H

#include <limits>

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                        kNan = std::numeric_limits<double>::quiet_NaN();

/// Arithmetic on floats of one type; constants are numbers.
class FloatMath : public TensorMath {
 public:
  FloatMath(const TensorMath& math, RankedTensorType type) : TensorMath(math), type(type) {}

  using TensorMath::add;
  using TensorMath::isLess;
  using TensorMath::multiply;
  Value number(double value) { return splat(type, value); }
  Value add(Value x, double y) { return add(x, number(y)); }
  Value multiply(Value x, double y) { return multiply(x, number(y)); }
  Value floor(Value x) { return create<math::FloorOp>(x); }
  Value log(Value x) { return create<math::LogOp>(x); }
  Value power(Value x, Value y) { return create<math::PowFOp>(x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) { return create<arith::CmpFOp>(predicate, x, y); }
  Value isLess(Value x, double y) { return isLess(x, number(y)); }
  Value isAtMost(Value x, double y) { return compare(arith::CmpFPredicate::OLE, x, number(y)); }
  Value isWhole(Value x) { return isEqual(x, floor(x)); }
  Value choose(Value condition, Value x, Value y) { return select(condition, x, y); }
  Value choose(Value condition, double x, Value y) { return select(condition, number(x), y); }

  RankedTensorType type;
};

/// `write` on `arguments`, in f32 or wider.
template <typename Write>
Value writeWide(TensorMath& math, ArrayRef<Value> arguments, Write write) {
  RankedTensorType type = tensorType(arguments.front());
  Type own = type.getElementType(), wide = own.getIntOrFloatBitWidth() < 32 ? math.getBuilder().getF32Type() : own;
  SmallVector<Value> widened;
  for (Value argument : arguments) widened.push_back(math.convert(argument, wide));
  FloatMath b(math, type.clone(wide));
  return math.convert(write(b, ArrayRef<Value>(widened)), own);
}

}  // namespace mlir::sgd

#endif
