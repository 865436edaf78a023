// Powers by repeated squaring, divisors by Euclid's algorithm.
#include "passes/graph/functions/integer_functions.h"

#include "passes/graph/functions/elementwise_loop.h"

using namespace mlir;
using namespace mlir::sgd;

/// Over all bits of the exponent, or those of a known one.
static Value multiplySquares(TensorMath& math, Value base, Value exponent, IntegerAttr known) {
  RankedTensorType type = tensorType(base);
  unsigned width = type.getElementTypeBitWidth();
  Value one = math.splat(type, int64_t{1}), zero = math.splat(type, int64_t{0});
  Value result = one, square = base;
  for (unsigned bit = 0; bit < width; ++bit) {
    if (known && known.getValue().lshr(bit).isZero()) break;
    if (bit) square = math.multiply(square, square);
    if (known) {
      if (known.getValue()[bit]) result = math.multiply(result, square);
      continue;
    }
    Value bits = math.create<arith::ConstantOp>(DenseElementsAttr::get(type, APInt::getOneBitSet(width, bit)));
    Value mask = math.create<arith::AndIOp>(exponent, bits);
    Value isSet = math.create<arith::CmpIOp>(arith::CmpIPredicate::ne, mask, zero);
    result = math.select(isSet, math.multiply(result, square), result);
  }
  return result;
}

Value mlir::sgd::writeIntegerPower(TensorMath& math, Value base, Value exponent, IntegerAttr known, bool isUnsigned) {
  Value power = multiplySquares(math, base, exponent, known);
  if (isUnsigned) return power;
  RankedTensorType type = tensorType(base);
  Value zero = math.splat(type, int64_t{0}), one = math.splat(type, int64_t{1});
  // The low bit of the exponent decides the power of -1, and 1 stays 1: `power` is right for them, since it reads the
  // exponent's bits.
  Value isUnit =
      math.create<arith::CmpIOp>(arith::CmpIPredicate::ule, math.add(base, one), math.splat(type, int64_t{2}));
  Value keeps = math.both(isUnit, math.negate(math.isEqual(base, zero)));
  return math.select(math.isLess(exponent, zero), math.select(keeps, power, zero), power);
}

Value mlir::sgd::writeGreatestDivisor(TensorMath& math, Value a, Value b) {
  RankedTensorType type = tensorType(a);
  auto isNonzero = [&](TensorMath& at, Value value) {
    return at.negate(at.isEqual(value, at.splat(type, int64_t{0})));
  };
  Value divisor = writeWhile(
      math, {a, b}, [&](TensorMath& at, ValueRange numbers) { return isNonzero(at, numbers[1]); },
      [&](TensorMath& at, ValueRange numbers) -> SmallVector<Value> {
        // Elements that are done keep their divisor.
        Value goesOn = isNonzero(at, numbers[1]);
        Value safe = at.select(goesOn, numbers[1], at.splat(type, int64_t{1}));
        return {at.select(goesOn, numbers[1], numbers[0]), at.create<RemSIOp>(numbers[0], safe)};
      })[0];
  Value isNegative = math.isLess(divisor, math.splat(type, int64_t{0}));
  return math.select(isNegative, math.subtract(math.splat(type, int64_t{0}), divisor), divisor);
}
