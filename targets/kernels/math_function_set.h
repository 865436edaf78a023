// The elementary functions of one floating-point type, by family in math_exp_log.cpp, math_hyperbolic.cpp,
// math_trigonometric.cpp, math_error_function.cpp and math_power.cpp. Polynomials are minimax fits (Remez, 50 digits)
// of the function on the reduced range; their own error is far below an ulp, what remains is rounding. Every step is an
// explicit operation: nothing is contracted or reassociated.
#ifndef SGD_TARGETS_KERNELS_MATH_FUNCTION_SET_H
#define SGD_TARGETS_KERNELS_MATH_FUNCTION_SET_H

#include <limits>
#include <utility>

#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::kernels {

/// Constants of float and double arithmetic.
struct FloatFormat {
  int mantissaBits, bias;
  double roundingMagic;  // 1.5 * 2^mantissaBits: adding it rounds to an integer in the low bits
  double smallestNormal;
  double ln2High, ln2Low;            // ln2High has trailing zeros: k * ln2High is exact
  double expLow, expHigh, expm1Low;  // beyond these exp is 0 or infinite, expm1 is -1
};
inline constexpr FloatFormat kFloatFormat{
    23, 127, 12582912.0, 1.17549435082228750797e-38, 0.693359375, -2.12194440e-4, -104.0, 89.0, -80.0};
inline constexpr FloatFormat kDoubleFormat{
    52,    1023,  6755399441055744.0, 2.2250738585072014e-308, 0.69314718036912381649, 1.9082149292705877e-10, -746.0,
    710.0, -600.0};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Emits functions of values of one type: floats or doubles, in the builder's lanes. Domain errors
/// give NaN.
class MathFunctions {
 public:
  using Type = llvm::Type;
  using Value = llvm::Value;

  MathFunctions(const VectorBuilder& v, Type* type)
      : v(v),
        b(v.b),
        type(type),
        isDouble(type->getScalarType()->isDoubleTy()),
        format(isDouble ? kDoubleFormat : kFloatFormat) {}

  /// A constant in all lanes.
  Value* c(double value) const { return v.constant(type, value); }
  Value* abs(Value* x) const { return v.unary(llvm::Intrinsic::fabs, x); }
  Value* copySign(Value* magnitude, Value* sign) const { return v.binary(llvm::Intrinsic::copysign, magnitude, sign); }
  Value* sqrt(Value* x) const { return v.unary(llvm::Intrinsic::sqrt, x); }
  Value* negate(Value* x) const { return b.CreateFNeg(x); }
  Value* reciprocal(Value* x) const { return b.CreateFDiv(c(1), x); }
  /// The polynomial in x with the coefficients that belong to the type.
  Value* poly(Value* x, llvm::ArrayRef<double> single, llvm::ArrayRef<double> twofold) const {
    return v.polynomial(x, isDouble ? twofold : single);
  }

  Value* exp(Value* x) const { return expOf(x, /*base2=*/false); }
  Value* exp2(Value* x) const { return expOf(x, /*base2=*/true); }
  Value* expm1(Value* x) const;
  Value* log(Value* x) const { return logOf(x, 0); }
  Value* log2(Value* x) const { return logOf(x, 1.44269504088896340736); }
  Value* log10(Value* x) const { return logOf(x, 0.43429448190325182765); }
  Value* log1p(Value* x) const;
  Value* tanh(Value* x) const;
  Value* erf(Value* x) const;
  Value* erfc(Value* x) const;
  Value* sin(Value* x) const { return trigonometric(x, 0); }
  Value* cos(Value* x) const { return trigonometric(x, 1); }
  Value* tan(Value* x) const { return b.CreateFDiv(sin(x), cos(x)); }
  Value* sinh(Value* x) const;
  Value* cosh(Value* x) const;
  Value* asin(Value* x) const;
  Value* acos(Value* x) const;
  Value* atan(Value* x) const;
  Value* asinh(Value* x) const;
  Value* acosh(Value* x) const;
  Value* atanh(Value* x) const;
  Value* cbrt(Value* x) const;
  Value* rsqrt(Value* x) const { return reciprocal(sqrt(x)); }
  Value* pow(Value* x, Value* y) const;
  Value* atan2(Value* y, Value* x) const;
  /// Halves are rounded away from zero.
  Value* round(Value* x) const;
  /// As reduceQuarterTurns without the modulus: n and r.
  std::pair<Value*, Value*> hugeQuarterTurns(Value* x, int mantissaOfX) const;

 private:
  /// Limits that let NaN through.
  Value* atMost(Value* x, double limit) const { return b.CreateSelect(b.CreateFCmpOGT(x, c(limit)), c(limit), x); }
  Value* atLeast(Value* x, double limit) const { return b.CreateSelect(b.CreateFCmpOLT(x, c(limit)), c(limit), x); }
  /// 2 to the power of an integer whose result is a normal number.
  Value* powerOfTwo(Value* exponent) const;
  /// x = k ln2 + r; returns r, and k as integer.
  std::pair<Value*, Value*> reduceExp(Value* x, bool base2) const;
  /// exp(r) - 1 for |r| <= ln(2)/2.
  Value* expm1Core(Value* r) const;
  /// e or 2 to the power of x (+ tail, if there, which is small against 1).
  Value* expOf(Value* x, bool base2, Value* tail = nullptr) const;
  /// exp(x) - 1 for |x| <= 80; the sign of 0 may be lost.
  Value* expm1Near(Value* x) const;
  /// log(x) as a sum of two numbers, to about 2^-64 of it; for doubles.
  std::pair<Value*, Value*> twofoldLog(Value* x) const;
  /// exp(y log(a)); for doubles. Exact only to double's product when `isRough`.
  Value* positivePow(Value* a, Value* y, bool isRough) const;
  Value* powOf(Value* x, Value* y, bool isRough) const;
  /// x = mantissa * 2^exponent for positive finite x, sqrt(1/2) <= mantissa <= sqrt(2).
  std::pair<Value*, Value*> splitExponent(Value* x) const;
  /// The logarithm with `scale` as in log1pCore.
  Value* logOf(Value* x, double scale) const;
  /// log(1 + r) + exponent * ln2, or to the base with log(base) = 1 / scale when scale is not 0, for sqrt(1/2) <= 1 + r
  /// <= sqrt(2).
  Value* log1pCore(Value* r, Value* exponent, double scale) const;
  /// x = n pi/2 + r; returns r, and n + quarterTurns modulo 4 as a float. For doubles, of which the mantissa's first
  /// `mantissaOfX` bits are in use.
  std::pair<Value*, Value*> reduceQuarterTurns(Value* x, int mantissaOfX, int quarterTurns) const;
  /// sin(r + quadrant pi/2) for |r| <= pi/4 and a quadrant of 0 to 3.
  Value* sinInQuadrant(Value* r, Value* quadrant) const;
  /// sin(x + quarterTurns pi/2).
  Value* trigonometric(Value* x, int quarterTurns) const;

  const VectorBuilder& v;
  llvm::IRBuilder<>& b;
  Type* type;
  bool isDouble;
  const FloatFormat& format;
};

}  // namespace mlir::sgd::kernels

#endif
