// Exponentials and logarithms: the argument is reduced to a binary exponent and a small rest, the rest goes through a
// polynomial.
#include "targets/kernels/math_function_set.h"

using namespace mlir::sgd::kernels;
using llvm::Value;

// (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2.
static constexpr double kExpFloat[] = {0.50000001, 0.166665129, 0.0416661878, 0.00836959816, 0.001395169};
static constexpr double kExpDouble[] = {0.5,
                                        0.166666666666666856,
                                        0.0416666666666667304,
                                        0.00833333333331537673,
                                        0.00138888888888560082,
                                        0.000198412699004590157,
                                        0.000024801587378009217,
                                        2.75572308173467388e-6,
                                        2.75572300148751283e-7,
                                        2.51134380305956012e-8,
                                        2.09279097224312855e-9};
// (log(1 + r) - r + r^2/2) / r^3 on sqrt(1/2) <= 1 + r <= sqrt(2); for doubles (log(1 + r) / s - 2) / s^2 in s^2, s = r
// / (2 + r).
static constexpr double kLogFloat[] = {0.333333106,  -0.249999866, 0.200022181, -0.166692472, 0.142188018,
                                       -0.123844782, 0.118721552,  -0.11788824, 0.0691591588};
static constexpr double kLogDouble[] = {0.666666666666666608, 0.400000000000064592, 0.285714285690152762,
                                        0.222222226576945578, 0.18181774778198201,  0.153871300723062003,
                                        0.132492221758086559, 0.132595486299048763};

Value* MathFunctions::powerOfTwo(Value* exponent) const {
  Value* biased = b.CreateAdd(exponent, v.integer(exponent->getType(), format.bias));
  return v.asFloat(b.CreateShl(biased, v.integer(exponent->getType(), format.mantissaBits)), type->getScalarType());
}

std::pair<Value*, Value*> MathFunctions::reduceExp(Value* x, bool base2) const {
  Value* magic = c(format.roundingMagic);
  Value* shifted = base2 ? b.CreateFAdd(x, magic) : v.fma(x, c(1.44269504088896340736), magic);
  Value* k = b.CreateSub(v.asInteger(shifted), v.asInteger(magic));
  Value* count = b.CreateFSub(shifted, magic);
  if (base2) return {b.CreateFMul(b.CreateFSub(x, count), c(0.69314718055994530942)), k};
  Value* r = v.fma(count, c(-format.ln2High), x);
  return {v.fma(count, c(-format.ln2Low), r), k};
}

Value* MathFunctions::expm1Core(Value* r) const { return v.fma(b.CreateFMul(r, r), poly(r, kExpFloat, kExpDouble), r); }

Value* MathFunctions::expOf(Value* x, bool base2, Value* tail) const {
  double scale = base2 ? 1.44269504088896340736 : 1.0;
  auto [r, k] = reduceExp(atLeast(atMost(x, format.expHigh * scale), format.expLow * scale), base2);
  if (tail) r = b.CreateFAdd(r, tail);
  Value* e = b.CreateFAdd(expm1Core(r), c(1));
  // Two factors: one alone could overflow or be denormal where the result is not. Masked scores of attention are far
  // below the least argument: they are multiplied by zero, since a CPU takes a hundred cycles over a product that
  // underflows.
  Value* half = b.CreateAShr(k, v.integer(k->getType(), 1));
  Value* isZero = b.CreateFCmpOLT(x, c(format.expLow * scale));
  Value* second = b.CreateSelect(isZero, c(0), powerOfTwo(b.CreateSub(k, half)));
  return b.CreateFMul(b.CreateFMul(e, powerOfTwo(half)), second);
}

Value* MathFunctions::expm1Near(Value* x) const {
  auto [r, k] = reduceExp(x, /*base2=*/false);
  Value* half = powerOfTwo(b.CreateSub(k, v.integer(k->getType(), 1)));
  return b.CreateFMul(c(2), v.fma(half, expm1Core(r), b.CreateFSub(half, c(0.5))));
}

Value* MathFunctions::expm1(Value* x) const {
  Value* result = expm1Near(atLeast(atMost(x, format.expHigh), format.expm1Low));
  return b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), x, result);
}

Value* MathFunctions::log1pCore(Value* r, Value* exponent, double scale) const {
  Value *square = b.CreateFMul(r, r), *half = b.CreateFMul(square, c(0.5)), *tail;  // log(1 + r) = r - half + tail
  if (isDouble) {
    Value *s = b.CreateFDiv(r, b.CreateFAdd(r, c(2))), *t = b.CreateFMul(s, s);
    tail = b.CreateFMul(s, v.fma(t, v.polynomial(t, kLogDouble), half));
  } else {
    tail = b.CreateFMul(b.CreateFMul(square, r), v.polynomial(r, kLogFloat));
  }
  if (scale != 0) {
    Value* natural = b.CreateFAdd(r, b.CreateFSub(tail, half));
    return scale > 1 ? v.fma(natural, c(scale), exponent)
                     : v.fma(natural, c(scale), b.CreateFMul(exponent, c(0.30102999566398119521)));
  }
  Value* low = v.fma(exponent, c(format.ln2Low), tail);
  return v.fma(exponent, c(format.ln2High), b.CreateFAdd(r, b.CreateFSub(low, half)));
}

std::pair<Value*, Value*> MathFunctions::splitExponent(Value* x) const {
  Value* isDenormal = b.CreateFCmpOLT(x, c(format.smallestNormal));
  double lift = isDouble ? 18014398509481984.0 : 33554432.0;  // 2^54, 2^25
  Value* normal = b.CreateSelect(isDenormal, b.CreateFMul(x, c(lift)), x);
  Value* bits = v.asInteger(normal);
  Value* shift = v.integer(bits->getType(), format.mantissaBits);
  Value* k = b.CreateAShr(b.CreateSub(bits, v.asInteger(c(0.70710678118654752440))), shift);
  Value* mantissa = v.asFloat(b.CreateSub(bits, b.CreateShl(k, shift)), type->getScalarType());
  Value* exponent = b.CreateFSub(b.CreateSIToFP(k, type), b.CreateSelect(isDenormal, c(isDouble ? 54 : 25), c(0)));
  return {mantissa, exponent};
}

Value* MathFunctions::logOf(Value* x, double scale) const {
  auto [mantissa, exponent] = splitExponent(x);
  Value* result = log1pCore(b.CreateFSub(mantissa, c(1)), exponent, scale);
  result = b.CreateSelect(b.CreateFCmpUGE(x, c(0)), result, c(kNan));
  result = b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), c(-kInfinity), result);
  // Infinity stays, and a NaN keeps its bits.
  return b.CreateSelect(b.CreateFCmpULT(x, c(kInfinity)), b.CreateSelect(b.CreateFCmpUNO(x, x), x, result), x);
}

/// log(u) + (x - (u - 1)) / u with u = 1 + x rounded: the second term is what rounding lost.
Value* MathFunctions::log1p(Value* x) const {
  Value* u = b.CreateFAdd(x, c(1));
  Value* lost = b.CreateFSub(x, b.CreateFSub(u, c(1)));
  Value* correction = b.CreateSelect(b.CreateFCmpONE(lost, c(0)), b.CreateFDiv(lost, u), c(0));
  Value* result = b.CreateFAdd(log(u), correction);
  return b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), x, result);
}
