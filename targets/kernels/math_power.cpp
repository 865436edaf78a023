// Powers, roots, rounding and remainders.
#include "targets/kernels/math_function_set.h"
#include "targets/kernels/math_functions.h"

using namespace mlir::sgd::kernels;
using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

/// exp(log|x| / 3), then two Newton steps.
Value* MathFunctions::cbrt(Value* x) const {
  Value *a = abs(x), *root = exp(b.CreateFMul(log(a), c(1.0 / 3)));
  for (int step = 0; step < 2; ++step) {
    Value* error = b.CreateFSub(root, b.CreateFDiv(b.CreateFDiv(a, root), root));
    root = v.fma(error, c(-1.0 / 3), root);
  }
  Value* special = b.CreateOr(b.CreateFCmpOEQ(a, c(0)), b.CreateFCmpUEQ(a, c(kInfinity)));
  return copySign(b.CreateSelect(special, a, root), x);
}

Value* MathFunctions::round(Value* x) const {
  Value *a = abs(x), *whole = v.unary(Intrinsic::floor, a);
  Value* up = b.CreateFCmpOGE(b.CreateFSub(a, whole), c(0.5));
  return copySign(b.CreateSelect(up, b.CreateFAdd(whole, c(1)), whole), x);
}

/// With m = x / 2^k and s = (m - 1) / (m + 1): 2 s + 2/3 s^3 as sums of two, the rest of the series in one.
std::pair<Value*, Value*> MathFunctions::twofoldLog(Value* x) const {
  static constexpr double kRest[] = {0.4,        2.0 / 7.0,  2.0 / 9.0,  2.0 / 11.0, 2.0 / 13.0,
                                     2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0, 2.0 / 23.0};
  auto [mantissa, exponent] = splitExponent(x);
  Value *f = b.CreateFSub(mantissa, c(1)), *d = b.CreateFAdd(mantissa, c(1));
  Value* dLow = b.CreateFSub(f, b.CreateFSub(d, c(2)));  // f + 2 - d, exact
  Value* s = b.CreateFDiv(f, d);
  Value* sLow = b.CreateFDiv(v.fma(negate(s), dLow, v.fma(negate(s), d, f)), d);
  Value *square = b.CreateFMul(s, s), *squareLow = v.fma(b.CreateFMul(s, c(2)), sLow, v.fma(s, s, negate(square)));
  Value* cube = b.CreateFMul(square, s);
  Value* cubeLow = v.fma(squareLow, s, v.fma(square, sLow, v.fma(square, s, negate(cube))));
  Value* third = b.CreateFMul(cube, c(2.0 / 3.0));
  Value* thirdLow = v.fma(cube, c(2.0 / 3.0), negate(third));
  thirdLow = v.fma(cubeLow, c(2.0 / 3.0), v.fma(cube, c(3.7007434154171886e-17), thirdLow));  // 2/3 - double(2/3)
  Value* rest = b.CreateFMul(b.CreateFMul(cube, square), v.polynomial(square, kRest));
  // Sums from large to small, each with what its rounding lost.
  Value* large = b.CreateFMul(exponent, c(format.ln2High));
  auto add = [&](Value* high, Value* low) {  // |high| >= |low| or high = 0
    Value* sum = b.CreateFAdd(high, low);
    return std::make_pair(sum, b.CreateFSub(low, b.CreateFSub(sum, high)));
  };
  auto [first, lostFirst] = add(large, b.CreateFMul(s, c(2)));
  auto [second, lostSecond] = add(first, third);
  Value* low = b.CreateFAdd(v.fma(sLow, c(2), thirdLow), b.CreateFAdd(lostFirst, lostSecond));
  low = v.fma(exponent, c(format.ln2Low), b.CreateFAdd(low, rest));
  return add(second, low);
}

Value* MathFunctions::positivePow(Value* a, Value* y, bool isRough) const {
  if (isRough) return exp(b.CreateFMul(y, log(a)));
  auto [high, low] = twofoldLog(a);
  Value* product = b.CreateFMul(y, high);
  Value* lost = v.fma(y, low, v.fma(y, high, negate(product)));
  // Infinite, NaN or far outside of what exp can give: the logarithm's own rounding does not matter.
  Value* isUsual = b.CreateFCmpOLT(abs(product), c(1000));
  Value* isNumber = b.CreateAnd(b.CreateFCmpOGT(a, c(0)), b.CreateFCmpOLT(a, c(kInfinity)));
  Value* isFine = b.CreateAnd(isUsual, isNumber);
  Value* rough = b.CreateFMul(y, log(a));
  return expOf(b.CreateSelect(isFine, product, rough), /*base2=*/false, b.CreateSelect(isFine, lost, c(0)));
}

/// Floats in double, where the product's rounding does not show.
Value* MathFunctions::pow(Value* x, Value* y) const {
  if (isDouble) return powOf(x, y, /*isRough=*/false);
  Type* wide = v.lanes(b.getDoubleTy());
  Value* power = MathFunctions(v, wide).powOf(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide), /*isRough=*/true);
  return b.CreateFPTrunc(power, type);
}

Value* MathFunctions::powOf(Value* x, Value* y, bool isRough) const {
  Value* a = abs(x);
  Value* power = positivePow(a, y, isRough);
  Value* isOne = b.CreateOr(b.CreateFCmpOEQ(y, c(0)), b.CreateFCmpOEQ(x, c(1)));
  Value* unitBase = b.CreateAnd(b.CreateFCmpOEQ(a, c(1)), b.CreateFCmpORD(y, y));
  power = b.CreateSelect(unitBase, c(1), power);
  Value *truncated = v.unary(Intrinsic::trunc, y), *half = b.CreateFMul(y, c(0.5));
  Value* isInteger = b.CreateFCmpOEQ(truncated, y);
  Value* isOdd = b.CreateAnd(isInteger, b.CreateFCmpONE(v.unary(Intrinsic::trunc, half), half));
  Value* negative = b.CreateICmpSLT(v.asInteger(x), v.integer(v.asInteger(x)->getType(), 0));
  power = b.CreateSelect(b.CreateAnd(negative, isOdd), negate(power), power);
  Value* undefined =
      b.CreateAnd(b.CreateAnd(b.CreateFCmpOLT(x, c(0)), b.CreateFCmpOGT(x, c(-kInfinity))), b.CreateNot(isInteger));
  Value* unordered = b.CreateFCmpUNO(x, y);
  power = b.CreateSelect(b.CreateOr(undefined, unordered), c(kNan), power);
  return b.CreateSelect(isOne, c(1), power);
}

/// Schoolbook division of doubles in steps of 40 bits, each of which subtracts exactly; the quotient is below
/// 2^(largestShift + 40).
static Value* doubleRemainder(const VectorBuilder& v, Value* x, Value* y, int largestShift) {
  llvm::IRBuilder<>& b = v.b;
  Type* type = x->getType();
  Value *rest = v.unary(Intrinsic::fabs, x), *divisor = v.unary(Intrinsic::fabs, y);
  for (int shift = largestShift; shift >= 0; shift -= 40) {
    Value* scaled = divisor;
    for (int left = shift; left > 0; left -= 1000)
      scaled = b.CreateFMul(scaled, v.constant(type, std::ldexp(1.0, std::min(left, 1000))));
    Value* quotient = v.unary(Intrinsic::trunc, b.CreateFDiv(rest, scaled));
    Value* reduced = v.fma(b.CreateFNeg(quotient), scaled, rest);
    reduced = b.CreateSelect(b.CreateFCmpOLT(reduced, v.constant(type, 0)), b.CreateFAdd(reduced, scaled), reduced);
    rest = b.CreateSelect(b.CreateFCmpOLE(scaled, rest), reduced, rest);
  }
  Value* defined = b.CreateAnd(b.CreateFCmpOLT(v.unary(Intrinsic::fabs, x), v.constant(type, kInfinity)),
                               b.CreateFCmpOGT(divisor, v.constant(type, 0)));
  return v.binary(Intrinsic::copysign, b.CreateSelect(defined, rest, v.constant(type, kNan)), x);
}

llvm::Value* mlir::sgd::kernels::emitRemainder(const VectorBuilder& v, llvm::Value* x, llvm::Value* y) {
  if (x->getType()->getScalarType()->isDoubleTy()) return doubleRemainder(v, x, y, 2080);
  llvm::Type* wide = v.lanes(v.b.getDoubleTy());
  return v.b.CreateFPTrunc(doubleRemainder(v, v.b.CreateFPExt(x, wide), v.b.CreateFPExt(y, wide), 280), x->getType());
}
