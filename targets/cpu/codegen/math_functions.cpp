// Elementary functions. Polynomials are minimax fits (Remez, 50 digits) of the function on the reduced range; their own error is
// far below an ulp, what remains is rounding. Every step is an explicit operation: nothing is contracted or reassociated.
#include "targets/cpu/codegen/math_functions.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir::sgd::cpu;
using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

/// Constants of float and double arithmetic.
struct Format {
  int mantissaBits, bias;
  double roundingMagic;               // 1.5 * 2^mantissaBits: adding it rounds to an integer in the low bits
  double smallestNormal;
  double ln2High, ln2Low;             // ln2High has trailing zeros: k * ln2High is exact
  double expLow, expHigh, expm1Low;   // beyond these exp is 0 or infinite, expm1 is -1
};
constexpr Format kFloat{23, 127, 12582912.0, 1.17549435082228750797e-38, 0.693359375, -2.12194440e-4, -104.0, 89.0, -80.0};
constexpr Format kDouble{52, 1023, 6755399441055744.0, 2.2250738585072014e-308, 0.69314718036912381649, 1.9082149292705877e-10, -746.0, 710.0, -600.0};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2.
constexpr double kExpFloat[] = {0.50000001, 0.166665129, 0.0416661878, 0.00836959816, 0.001395169};
constexpr double kExpDouble[] = {0.5, 0.166666666666666856, 0.0416666666666667304, 0.00833333333331537673, 0.00138888888888560082, 0.000198412699004590157,
                                 0.000024801587378009217, 2.75572308173467388e-6, 2.75572300148751283e-7, 2.51134380305956012e-8, 2.09279097224312855e-9};
// (log(1 + r) - r + r^2/2) / r^3 on sqrt(1/2) <= 1 + r <= sqrt(2); for doubles (log(1 + r) / s - 2) / s^2 in s^2, s = r / (2 + r).
constexpr double kLogFloat[] = {0.333333106, -0.249999866, 0.200022181, -0.166692472, 0.142188018, -0.123844782, 0.118721552, -0.11788824, 0.0691591588};
constexpr double kLogDouble[] = {0.666666666666666608, 0.400000000000064592, 0.285714285690152762, 0.222222226576945578,
                                 0.18181774778198201, 0.153871300723062003, 0.132492221758086559, 0.132595486299048763};
// sin(x) = x + x t P(t), cos(x) = 1 - t/2 + t^2 P(t), t = x^2, |x| <= pi/4.
constexpr double kSinFloat[] = {-0.166666666, 0.00833332929, -0.000198393011, 2.71797862e-6};
constexpr double kSinDouble[] = {-0.166666666666666666, 0.00833333333333332238, -0.000198412698412545685, 2.75573192139092535e-6,
                                 -2.50521048339373671e-8, 1.60583562821178988e-10, -7.5781662363218617e-13};
constexpr double kCosFloat[] = {0.0416666666, -0.00138888837, 2.47995009e-5, -2.72083689e-7};
constexpr double kCosDouble[] = {0.0416666666666666666, -0.0013888888888888878, 0.0000248015873015742401, -2.75573192163471545e-7,
                                 2.08767545493004108e-9, -1.14703108584045051e-11, 4.73878591940901688e-14};
// erf(x) = x + x P(x^2) on |x| <= 1.
constexpr double kErfFloat[] = {0.128379167, -0.376126385, 0.112837827, -0.0268654458, 0.00522107484, -0.000848471089, 0.000112705409, -9.68012707e-6};
constexpr double kErfDouble[] = {0.128379167095512574, -0.376126389031837525, 0.112837916709551256, -0.0268661706451312191, 0.00522397762544168223,
                                 -0.000854832702340365957, 0.000120553329789136824, -0.0000149256502381715753, 1.64621108115488478e-6, -1.63657691588217182e-7,
                                 1.48060333244350444e-8, -1.22777858740806814e-9, 9.32400296953051808e-11, -6.19763117948169055e-12, 2.80799170500082154e-13};
// erfc(x) = exp(-x^2 - P(x)) on 1 <= x <= 4.
constexpr double kErfTailFloat[] = {-0.000202085808, 1.12964945, -0.366934511, 0.108606914, -0.0253491736, 0.00427075909, -0.000460395116, 2.47605817e-5, -2.12549424e-7};
// (1 + 2 x) exp(x^2) erfc(x) in (x - 4) / (x + 4), on 0.4 <= x <= 10.5 and 27.5.
constexpr double kErfcFloat[] = {1.23299512, -0.139621032, 0.0153800888, 0.0680932017, -0.101050561, 0.0937780847, -0.0662148327, 0.0369869914, -0.016689762, 0.00519187515};
constexpr double kErfcDouble[] = {1.23299511862555256, -0.139621116840561635, 0.0153796521026018339, 0.0680970542545863661, -0.101039066035233002, 0.0937328350021905342,
                                  -0.0663303658369969269, 0.0371675154729623339, -0.0161977337670959363, 0.00503197058178812713, -0.000757775249519575195, -0.000199260135669816835,
                                  0.00015062976166151813, -0.0000243867605635311571, -0.0000112428549496728783, 5.6808528202623606e-6, 3.2684704091300884e-7,
                                  -7.83558204492036569e-7, 4.4286400856933563e-8, 7.48733187521938257e-8, -4.17387305622391193e-9};
// atan(x) = x + x t P(t), t = x^2; floats on |x| <= 1, doubles on |x| <= tan(pi/8). asin likewise on |x| <= 1/2.
constexpr double kAtanFloat[] = {-0.333333277, 0.199996997, -0.142802151, 0.110607562, -0.0882065127, 0.0676347662, -0.0449991814, 0.0228036468, -0.00744242235, 0.00113873495};
constexpr double kAtanDouble[] = {-0.333333333333333278, 0.199999999999977386, -0.142857142853954025, 0.111111110885861675, -0.0909090815795137893, 0.0769228304041970715,
                                  -0.0666623067261168315, 0.0587705824199766438, -0.0521862913088902296, 0.0450443027843619151, -0.033494321386669731, 0.0152147747479898134};
constexpr double kAsinFloat[] = {0.166667508, 0.0749534325, 0.0454662964, 0.0241946397, 0.0421463422};
constexpr double kAsinDouble[] = {0.1666666666666676, 0.0749999999997077209, 0.0446428571747217132, 0.0303819427000612886, 0.0223722152506300147,
                                  0.0173516067308550357, 0.0139808885874265993, 0.0113983279694715489, 0.0107836388995925712, 0.00369331449070467039,
                                  0.0217398379678128571, -0.0210454320153627233, 0.0326578494915654272};

/// Functions over one type of lane values.
class Functions {
 public:
  Functions(const VectorBuilder &v, Type *type)
      : v(v), b(v.b), type(type), isDouble(type->getScalarType()->isDoubleTy()), format(isDouble ? kDouble : kFloat) {}

  Value *c(double value) const { return v.constant(type, value); }
  Value *abs(Value *x) const { return v.unary(Intrinsic::fabs, x); }
  Value *copySign(Value *magnitude, Value *sign) const { return v.binary(Intrinsic::copysign, magnitude, sign); }
  Value *sqrt(Value *x) const { return v.unary(Intrinsic::sqrt, x); }
  Value *negate(Value *x) const { return b.CreateFNeg(x); }
  Value *reciprocal(Value *x) const { return b.CreateFDiv(c(1), x); }
  Value *poly(Value *x, llvm::ArrayRef<double> single, llvm::ArrayRef<double> twofold) const { return v.polynomial(x, isDouble ? twofold : single); }

  Value *exp(Value *x) const { return expOf(x, /*base2=*/false); }
  Value *exp2(Value *x) const { return expOf(x, /*base2=*/true); }
  Value *expm1(Value *x) const;
  Value *log(Value *x) const { return logOf(x, 0); }
  Value *log2(Value *x) const { return logOf(x, 1.44269504088896340736); }
  Value *log10(Value *x) const { return logOf(x, 0.43429448190325182765); }
  Value *log1p(Value *x) const;
  Value *tanh(Value *x) const;
  Value *erf(Value *x) const;
  Value *erfc(Value *x) const;
  Value *sin(Value *x) const { return trigonometric(x, 0); }
  Value *cos(Value *x) const { return trigonometric(x, 1); }
  Value *tan(Value *x) const { return b.CreateFDiv(sin(x), cos(x)); }
  Value *sinh(Value *x) const;
  Value *cosh(Value *x) const;
  Value *asin(Value *x) const;
  Value *acos(Value *x) const;
  Value *atan(Value *x) const;
  Value *asinh(Value *x) const;
  Value *acosh(Value *x) const;
  Value *atanh(Value *x) const;
  Value *cbrt(Value *x) const;
  Value *rsqrt(Value *x) const { return reciprocal(sqrt(x)); }
  Value *pow(Value *x, Value *y) const;
  Value *atan2(Value *y, Value *x) const;
  Value *round(Value *x) const;

 private:
  /// Limits that let NaN through.
  Value *atMost(Value *x, double limit) const { return b.CreateSelect(b.CreateFCmpOGT(x, c(limit)), c(limit), x); }
  Value *atLeast(Value *x, double limit) const { return b.CreateSelect(b.CreateFCmpOLT(x, c(limit)), c(limit), x); }
  Value *powerOfTwo(Value *exponent) const;
  /// x = k ln2 + r; returns r, and k as integer.
  std::pair<Value *, Value *> reduceExp(Value *x, bool base2) const;
  /// exp(r) - 1 for |r| <= ln(2)/2.
  Value *expm1Core(Value *r) const { return v.fma(b.CreateFMul(r, r), poly(r, kExpFloat, kExpDouble), r); }
  Value *expOf(Value *x, bool base2) const;
  Value *logOf(Value *x, double scale) const;
  Value *log1pCore(Value *r, Value *exponent, double scale) const;
  Value *trigonometric(Value *x, int quarterTurns) const;
  Value *viaDouble(Value *x, Value *y, Value *(Functions::*function)(Value *, Value *) const) const;

  const VectorBuilder &v;
  llvm::IRBuilder<> &b;
  Type *type;
  bool isDouble;
  const Format &format;
};

Value *Functions::powerOfTwo(Value *exponent) const {
  Value *biased = b.CreateAdd(exponent, v.integer(exponent->getType(), format.bias));
  return v.asFloat(b.CreateShl(biased, v.integer(exponent->getType(), format.mantissaBits)), type->getScalarType());
}

std::pair<Value *, Value *> Functions::reduceExp(Value *x, bool base2) const {
  Value *magic = c(format.roundingMagic);
  Value *shifted = base2 ? b.CreateFAdd(x, magic) : v.fma(x, c(1.44269504088896340736), magic);
  Value *k = b.CreateSub(v.asInteger(shifted), v.asInteger(magic));
  Value *count = b.CreateFSub(shifted, magic);
  if (base2) return {b.CreateFMul(b.CreateFSub(x, count), c(0.69314718055994530942)), k};
  Value *r = v.fma(count, c(-format.ln2High), x);
  return {v.fma(count, c(-format.ln2Low), r), k};
}

Value *Functions::expOf(Value *x, bool base2) const {
  double scale = base2 ? 1.44269504088896340736 : 1.0;
  auto [r, k] = reduceExp(atLeast(atMost(x, format.expHigh * scale), format.expLow * scale), base2);
  Value *e = b.CreateFAdd(expm1Core(r), c(1));
  // Two factors: one alone could overflow or be denormal where the result is not.
  Value *half = b.CreateAShr(k, v.integer(k->getType(), 1));
  return b.CreateFMul(b.CreateFMul(e, powerOfTwo(half)), powerOfTwo(b.CreateSub(k, half)));
}

Value *Functions::expm1(Value *x) const {
  auto [r, k] = reduceExp(atLeast(atMost(x, format.expHigh), format.expm1Low), false);
  Value *half = powerOfTwo(b.CreateSub(k, v.integer(k->getType(), 1)));
  Value *result = b.CreateFMul(c(2), v.fma(half, expm1Core(r), b.CreateFSub(half, c(0.5))));
  return b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), x, result);
}

/// log(1 + r) + exponent * ln2, or to the base with log(base) = 1 / scale, for sqrt(1/2) <= 1 + r <= sqrt(2).
Value *Functions::log1pCore(Value *r, Value *exponent, double scale) const {
  Value *square = b.CreateFMul(r, r), *half = b.CreateFMul(square, c(0.5)), *tail;  // log(1 + r) = r - half + tail
  if (isDouble) {
    Value *s = b.CreateFDiv(r, b.CreateFAdd(r, c(2))), *t = b.CreateFMul(s, s);
    tail = b.CreateFMul(s, v.fma(t, v.polynomial(t, kLogDouble), half));
  } else {
    tail = b.CreateFMul(b.CreateFMul(square, r), v.polynomial(r, kLogFloat));
  }
  if (scale != 0) {
    Value *natural = b.CreateFAdd(r, b.CreateFSub(tail, half));
    return scale > 1 ? v.fma(natural, c(scale), exponent) : v.fma(natural, c(scale), b.CreateFMul(exponent, c(0.30102999566398119521)));
  }
  Value *low = v.fma(exponent, c(format.ln2Low), tail);
  return v.fma(exponent, c(format.ln2High), b.CreateFAdd(r, b.CreateFSub(low, half)));
}

Value *Functions::logOf(Value *x, double scale) const {
  Value *isDenormal = b.CreateFCmpOLT(x, c(format.smallestNormal));
  double lift = isDouble ? 18014398509481984.0 : 33554432.0;  // 2^54, 2^25
  Value *normal = b.CreateSelect(isDenormal, b.CreateFMul(x, c(lift)), x);
  Value *bits = v.asInteger(normal);
  Value *shift = v.integer(bits->getType(), format.mantissaBits);
  Value *k = b.CreateAShr(b.CreateSub(bits, v.asInteger(c(0.70710678118654752440))), shift);
  Value *mantissa = v.asFloat(b.CreateSub(bits, b.CreateShl(k, shift)), type->getScalarType());
  Value *exponent = b.CreateFSub(b.CreateSIToFP(k, type), b.CreateSelect(isDenormal, c(isDouble ? 54 : 25), c(0)));
  Value *result = log1pCore(b.CreateFSub(mantissa, c(1)), exponent, scale);
  result = b.CreateSelect(b.CreateFCmpUGE(x, c(0)), result, c(kNan));
  result = b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), c(-kInfinity), result);
  // Infinity stays, and a NaN keeps its bits.
  return b.CreateSelect(b.CreateFCmpULT(x, c(kInfinity)), b.CreateSelect(b.CreateFCmpUNO(x, x), x, result), x);
}

/// log(u) + (x - (u - 1)) / u with u = 1 + x rounded: the second term is what rounding lost.
Value *Functions::log1p(Value *x) const {
  Value *u = b.CreateFAdd(x, c(1));
  Value *lost = b.CreateFSub(x, b.CreateFSub(u, c(1)));
  Value *correction = b.CreateSelect(b.CreateFCmpONE(lost, c(0)), b.CreateFDiv(lost, u), c(0));
  Value *result = b.CreateFAdd(log(u), correction);
  return b.CreateSelect(b.CreateFCmpOEQ(x, c(0)), x, result);
}

Value *Functions::tanh(Value *x) const {
  Value *e = expm1(b.CreateFMul(abs(x), c(-2)));
  return copySign(b.CreateFDiv(e, b.CreateFAdd(e, c(2))), x);
}

Value *Functions::erf(Value *x) const {
  Value *a = abs(x), *t = b.CreateFMul(x, x);
  Value *isSmall = b.CreateFCmpOLT(a, c(1));
  Value *small = v.fma(x, poly(b.CreateSelect(isSmall, t, c(0)), kErfFloat, kErfDouble), x);
  Value *large;
  if (isDouble) {
    large = b.CreateFSub(c(1), erfc(a));
  } else {
    Value *limited = atMost(a, 4);
    large = b.CreateFSub(c(1), exp(negate(v.fma(limited, limited, v.polynomial(limited, kErfTailFloat)))));
  }
  return b.CreateSelect(isSmall, small, copySign(large, x));
}

/// 1 - erf below 1/2; above, exp(-x^2) with the square's rounding error made good.
Value *Functions::erfc(Value *x) const {
  Value *a = atMost(abs(x), isDouble ? 27.5 : 10.5);
  Value *square = b.CreateFMul(a, a), *lost = v.fma(a, a, negate(square));
  Value *decay = exp(negate(square));
  decay = v.fma(negate(lost), decay, decay);
  Value *u = b.CreateFDiv(b.CreateFSub(a, c(4)), b.CreateFAdd(a, c(4)));
  Value *tail = b.CreateFDiv(b.CreateFMul(decay, poly(u, kErfcFloat, kErfcDouble)), v.fma(a, c(2), c(1)));
  Value *mirrored = b.CreateSelect(b.CreateFCmpOLT(x, c(0)), b.CreateFSub(c(2), tail), tail);
  Value *isSmall = b.CreateFCmpOLT(a, c(0.5));
  Value *limited = b.CreateSelect(isSmall, x, c(0));
  Value *small = b.CreateFSub(c(1), v.fma(limited, poly(b.CreateFMul(limited, limited), kErfFloat, kErfDouble), limited));
  return b.CreateSelect(isSmall, small, mirrored);
}

/// Cody and Waite: x = n pi/2 + r with pi/2 in several parts; floats are reduced in double.
Value *Functions::trigonometric(Value *x, int quarterTurns) const {
  if (!isDouble) {
    Type *wide = v.lanes(b.getDoubleTy());
    Functions f(v, wide);
    Value *y = b.CreateFPExt(x, wide);
    Value *n = v.unary(Intrinsic::rint, b.CreateFMul(y, f.c(0.63661977236758134308)));
    Value *r = v.fma(n, f.c(-1.5707963267948965580), y);
    r = b.CreateFPTrunc(v.fma(n, f.c(-6.1232339957367660359e-17), r), type);
    Value *turns = b.CreateFAdd(n, f.c(quarterTurns));
    Value *quadrant = b.CreateFPTrunc(b.CreateFSub(turns, b.CreateFMul(f.c(4), v.unary(Intrinsic::floor, b.CreateFMul(turns, f.c(0.25))))), type);
    Value *t = b.CreateFMul(r, r);
    Value *sine = v.fma(b.CreateFMul(r, t), v.polynomial(t, kSinFloat), r);
    Value *cosine = v.fma(b.CreateFMul(t, t), v.polynomial(t, kCosFloat), v.fma(t, c(-0.5), c(1)));
    Value *odd = b.CreateOr(b.CreateFCmpOEQ(quadrant, c(1)), b.CreateFCmpOEQ(quadrant, c(3)));
    Value *result = b.CreateSelect(odd, cosine, sine);
    return b.CreateSelect(b.CreateFCmpOGE(quadrant, c(2)), negate(result), result);
  }
  Value *n = v.unary(Intrinsic::rint, b.CreateFMul(x, c(0.63661977236758134308)));
  Value *r = v.fma(n, c(-1.5707963267948965580), x);
  r = v.fma(n, c(-6.1232339957367660359e-17), r);
  Value *turns = b.CreateFAdd(n, c(quarterTurns));
  Value *quadrant = b.CreateFSub(turns, b.CreateFMul(c(4), v.unary(Intrinsic::floor, b.CreateFMul(turns, c(0.25)))));
  Value *t = b.CreateFMul(r, r);
  Value *sine = v.fma(b.CreateFMul(r, t), v.polynomial(t, kSinDouble), r);
  Value *cosine = v.fma(b.CreateFMul(t, t), v.polynomial(t, kCosDouble), v.fma(t, c(-0.5), c(1)));
  Value *odd = b.CreateOr(b.CreateFCmpOEQ(quadrant, c(1)), b.CreateFCmpOEQ(quadrant, c(3)));
  Value *result = b.CreateSelect(odd, cosine, sine);
  return b.CreateSelect(b.CreateFCmpOGE(quadrant, c(2)), negate(result), result);
}

Value *Functions::sinh(Value *x) const {
  // (e + e / (e + 1)) / 2 with e = expm1(|x|); halves of the exponent beyond its range.
  Value *a = abs(x), *e = expm1(a);
  Value *usual = b.CreateFMul(c(0.5), b.CreateFAdd(e, b.CreateFDiv(e, b.CreateFAdd(e, c(1)))));
  Value *root = exp(b.CreateFMul(a, c(0.5)));
  Value *huge = b.CreateFMul(b.CreateFMul(c(0.5), root), root);
  return copySign(b.CreateSelect(b.CreateFCmpOGT(a, c(isDouble ? 700 : 80)), huge, usual), x);
}

Value *Functions::cosh(Value *x) const {
  Value *root = exp(b.CreateFMul(abs(x), c(0.5)));
  Value *e = b.CreateFMul(root, root);
  Value *usual = b.CreateFMul(c(0.5), b.CreateFAdd(exp(abs(x)), exp(negate(abs(x)))));
  Value *huge = b.CreateFMul(b.CreateFMul(c(0.5), root), root);
  return b.CreateSelect(b.CreateFCmpOGT(e, c(1e30)), huge, usual);
}

Value *Functions::asin(Value *x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value *t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value *s = b.CreateSelect(isSmall, a, sqrt(t));
  Value *core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  return copySign(b.CreateSelect(isSmall, core, v.fma(core, c(-2), c(1.57079632679489661923))), x);
}

Value *Functions::acos(Value *x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value *t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value *s = b.CreateSelect(isSmall, a, sqrt(t));
  Value *core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  Value *small = b.CreateFSub(c(1.57079632679489661923), copySign(core, x));
  Value *twice = b.CreateFMul(core, c(2));
  Value *large = b.CreateSelect(b.CreateFCmpOLT(x, c(0)), b.CreateFSub(c(3.14159265358979323846), twice), twice);
  return b.CreateSelect(isSmall, small, large);
}

Value *Functions::atan(Value *x) const {
  Value *a = abs(x), *isLarge = b.CreateFCmpOGT(a, c(1));
  Value *z = b.CreateSelect(isLarge, reciprocal(a), a);  // in [0, 1]
  Value *offset = c(0);
  if (isDouble) {
    Value *high = b.CreateFCmpOGT(z, c(0.41421356237309504880));
    z = b.CreateSelect(high, b.CreateFDiv(b.CreateFSub(z, c(1)), b.CreateFAdd(z, c(1))), z);
    offset = b.CreateSelect(high, c(0.78539816339744830962), c(0));
  }
  Value *t = b.CreateFMul(z, z);
  Value *core = b.CreateFAdd(offset, v.fma(b.CreateFMul(z, t), poly(t, kAtanFloat, kAtanDouble), z));
  return copySign(b.CreateSelect(isLarge, b.CreateFSub(c(1.57079632679489661923), core), core), x);
}

Value *Functions::atan2(Value *y, Value *x) const {
  Value *ax = abs(x), *ay = abs(y);
  Value *bothInfinite = b.CreateAnd(b.CreateFCmpOEQ(ax, c(kInfinity)), b.CreateFCmpOEQ(ay, c(kInfinity)));
  Value *bothZero = b.CreateAnd(b.CreateFCmpOEQ(ax, c(0)), b.CreateFCmpOEQ(ay, c(0)));
  Value *ratio = b.CreateFDiv(ay, ax);
  ratio = b.CreateSelect(bothInfinite, c(1), b.CreateSelect(bothZero, c(0), ratio));
  Value *angle = atan(ratio);
  Value *negative = b.CreateICmpSLT(v.asInteger(x), v.integer(v.asInteger(x)->getType(), 0));
  angle = b.CreateSelect(negative, b.CreateFSub(c(3.14159265358979323846), angle), angle);
  Value *unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, b.CreateFAdd(x, y), copySign(angle, y));
}

Value *Functions::asinh(Value *x) const {
  // log1p(a + a^2 / (1 + sqrt(1 + a^2))); beyond the square's range log(a) + ln 2.
  Value *a = abs(x), *isHuge = b.CreateFCmpOGT(a, c(isDouble ? 1e150 : 1e18));
  Value *square = b.CreateFMul(a, a);
  Value *usual = log1p(b.CreateFAdd(a, b.CreateFDiv(square, b.CreateFAdd(c(1), sqrt(b.CreateFAdd(square, c(1)))))));
  return copySign(b.CreateSelect(isHuge, b.CreateFAdd(log(a), c(0.69314718055994530942)), usual), x);
}

Value *Functions::acosh(Value *x) const {
  Value *t = b.CreateFSub(x, c(1)), *isHuge = b.CreateFCmpOGT(x, c(isDouble ? 1e150 : 1e18));
  Value *usual = log1p(b.CreateFAdd(t, sqrt(b.CreateFMul(t, b.CreateFAdd(x, c(1))))));
  Value *result = b.CreateSelect(isHuge, b.CreateFAdd(log(x), c(0.69314718055994530942)), usual);
  return b.CreateSelect(b.CreateFCmpOLT(x, c(1)), c(kNan), result);
}

Value *Functions::atanh(Value *x) const {
  Value *a = abs(x);
  Value *ratio = b.CreateFDiv(b.CreateFMul(c(2), a), b.CreateFSub(c(1), a));
  return copySign(b.CreateFMul(c(0.5), log1p(ratio)), x);
}

/// exp(log|x| / 3), then two Newton steps.
Value *Functions::cbrt(Value *x) const {
  Value *a = abs(x), *root = exp(b.CreateFMul(log(a), c(1.0 / 3)));
  for (int step = 0; step < 2; ++step) {
    Value *error = b.CreateFSub(root, b.CreateFDiv(b.CreateFDiv(a, root), root));
    root = v.fma(error, c(-1.0 / 3), root);
  }
  Value *special = b.CreateOr(b.CreateFCmpOEQ(a, c(0)), b.CreateFCmpUEQ(a, c(kInfinity)));
  return copySign(b.CreateSelect(special, a, root), x);
}

/// Rounds halves away from zero.
Value *Functions::round(Value *x) const {
  Value *a = abs(x), *whole = v.unary(Intrinsic::floor, a);
  Value *up = b.CreateFCmpOGE(b.CreateFSub(a, whole), c(0.5));
  return copySign(b.CreateSelect(up, b.CreateFAdd(whole, c(1)), whole), x);
}

Value *Functions::viaDouble(Value *x, Value *y, Value *(Functions::*function)(Value *, Value *) const) const {
  Type *wide = v.lanes(b.getDoubleTy());
  Functions f(v, wide);
  return b.CreateFPTrunc((f.*function)(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide)), type);
}

/// exp(y log|x|); floats in double, where the product's rounding does not show.
Value *Functions::pow(Value *x, Value *y) const {
  if (!isDouble) return viaDouble(x, y, &Functions::pow);
  Value *a = abs(x);
  Value *power = exp(b.CreateFMul(y, log(a)));
  Value *isOne = b.CreateOr(b.CreateFCmpOEQ(y, c(0)), b.CreateFCmpOEQ(x, c(1)));
  Value *unitBase = b.CreateAnd(b.CreateFCmpOEQ(a, c(1)), b.CreateFCmpORD(y, y));
  power = b.CreateSelect(unitBase, c(1), power);
  Value *truncated = v.unary(Intrinsic::trunc, y), *half = b.CreateFMul(y, c(0.5));
  Value *isInteger = b.CreateFCmpOEQ(truncated, y);
  Value *isOdd = b.CreateAnd(isInteger, b.CreateFCmpONE(v.unary(Intrinsic::trunc, half), half));
  Value *negative = b.CreateICmpSLT(v.asInteger(x), v.integer(v.asInteger(x)->getType(), 0));
  power = b.CreateSelect(b.CreateAnd(negative, isOdd), negate(power), power);
  Value *undefined = b.CreateAnd(b.CreateAnd(b.CreateFCmpOLT(x, c(0)), b.CreateFCmpOGT(x, c(-kInfinity))), b.CreateNot(isInteger));
  Value *unordered = b.CreateFCmpUNO(x, y);
  power = b.CreateSelect(b.CreateOr(undefined, unordered), c(kNan), power);
  return b.CreateSelect(isOne, c(1), power);
}

}  // namespace

llvm::Value *mlir::sgd::cpu::emitMathFunction(const VectorBuilder &v, llvm::StringRef name, llvm::ArrayRef<llvm::Value *> arguments) {
  Functions f(v, arguments[0]->getType());
  using Unary = llvm::Value *(Functions::*)(llvm::Value *) const;
  static const llvm::StringMap<Unary> unary = {
      {"exp", &Functions::exp},     {"exp2", &Functions::exp2},   {"expm1", &Functions::expm1}, {"log", &Functions::log},     {"log2", &Functions::log2},
      {"log10", &Functions::log10}, {"log1p", &Functions::log1p}, {"tanh", &Functions::tanh},   {"erf", &Functions::erf},     {"erfc", &Functions::erfc},
      {"sin", &Functions::sin},     {"cos", &Functions::cos},     {"tan", &Functions::tan},     {"sinh", &Functions::sinh},   {"cosh", &Functions::cosh},
      {"asin", &Functions::asin},   {"acos", &Functions::acos},   {"atan", &Functions::atan},   {"asinh", &Functions::asinh}, {"acosh", &Functions::acosh},
      {"atanh", &Functions::atanh}, {"cbrt", &Functions::cbrt},   {"rsqrt", &Functions::rsqrt}, {"sqrt", &Functions::sqrt},   {"absf", &Functions::abs},
      {"round", &Functions::round}};
  if (auto known = unary.find(name); known != unary.end()) return (f.*known->second)(arguments[0]);
  static const llvm::StringMap<Intrinsic::ID> intrinsics = {
      {"floor", Intrinsic::floor}, {"ceil", Intrinsic::ceil}, {"roundeven", Intrinsic::roundeven}, {"trunc", Intrinsic::trunc}};
  if (auto known = intrinsics.find(name); known != intrinsics.end()) return v.unary(known->second, arguments[0]);
  if (name == "copysign") return f.copySign(arguments[0], arguments[1]);
  if (name == "powf") return f.pow(arguments[0], arguments[1]);
  if (name == "atan2") return f.atan2(arguments[0], arguments[1]);
  if (name == "fma") return v.fma(arguments[0], arguments[1], arguments[2]);
  return nullptr;
}

/// Schoolbook division of doubles in steps of 40 bits, each of which subtracts exactly; the quotient is below 2^(largestShift + 40).
static Value *doubleRemainder(const VectorBuilder &v, Value *x, Value *y, int largestShift) {
  llvm::IRBuilder<> &b = v.b;
  Type *type = x->getType();
  Value *rest = v.unary(Intrinsic::fabs, x), *divisor = v.unary(Intrinsic::fabs, y);
  for (int shift = largestShift; shift >= 0; shift -= 40) {
    Value *scaled = divisor;
    for (int left = shift; left > 0; left -= 1000) scaled = b.CreateFMul(scaled, v.constant(type, std::ldexp(1.0, std::min(left, 1000))));
    Value *quotient = v.unary(Intrinsic::trunc, b.CreateFDiv(rest, scaled));
    Value *reduced = v.fma(b.CreateFNeg(quotient), scaled, rest);
    reduced = b.CreateSelect(b.CreateFCmpOLT(reduced, v.constant(type, 0)), b.CreateFAdd(reduced, scaled), reduced);
    rest = b.CreateSelect(b.CreateFCmpOLE(scaled, rest), reduced, rest);
  }
  Value *defined = b.CreateAnd(b.CreateFCmpOLT(v.unary(Intrinsic::fabs, x), v.constant(type, kInfinity)), b.CreateFCmpOGT(divisor, v.constant(type, 0)));
  return v.binary(Intrinsic::copysign, b.CreateSelect(defined, rest, v.constant(type, kNan)), x);
}

llvm::Value *mlir::sgd::cpu::emitRemainder(const VectorBuilder &v, llvm::Value *x, llvm::Value *y) {
  if (x->getType()->getScalarType()->isDoubleTy()) return doubleRemainder(v, x, y, 2080);
  llvm::Type *wide = v.lanes(v.b.getDoubleTy());
  return v.b.CreateFPTrunc(doubleRemainder(v, v.b.CreateFPExt(x, wide), v.b.CreateFPExt(y, wide), 280), x->getType());
}
