// Sine, cosine and the inverse trigonometric functions.
#include "targets/cpu/codegen/math_function_set.h"

using namespace mlir::sgd::cpu;
using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// sin(x) = x + x t P(t), cos(x) = 1 - t/2 + t^2 P(t), t = x^2, |x| <= pi/4.
static constexpr double kSinFloat[] = {-0.166666666, 0.00833332929, -0.000198393011, 2.71797862e-6};
static constexpr double kSinDouble[] = {-0.166666666666666666,  0.00833333333333332238,  -0.000198412698412545685,
                                        2.75573192139092535e-6, -2.50521048339373671e-8, 1.60583562821178988e-10,
                                        -7.5781662363218617e-13};
static constexpr double kCosFloat[] = {0.0416666666, -0.00138888837, 2.47995009e-5, -2.72083689e-7};
static constexpr double kCosDouble[] = {0.0416666666666666666,   -0.0013888888888888878, 0.0000248015873015742401,
                                        -2.75573192163471545e-7, 2.08767545493004108e-9, -1.14703108584045051e-11,
                                        4.73878591940901688e-14};
// atan(x) = x + x t P(t), t = x^2; floats on |x| <= 1, doubles on |x| <= tan(pi/8). asin likewise on |x| <= 1/2.
static constexpr double kAtanFloat[] = {-0.333333277, 0.199996997,   -0.142802151, 0.110607562,    -0.0882065127,
                                        0.0676347662, -0.0449991814, 0.0228036468, -0.00744242235, 0.00113873495};
static constexpr double kAtanDouble[] = {-0.333333333333333278,  0.199999999999977386,   -0.142857142853954025,
                                         0.111111110885861675,   -0.0909090815795137893, 0.0769228304041970715,
                                         -0.0666623067261168315, 0.0587705824199766438,  -0.0521862913088902296,
                                         0.0450443027843619151,  -0.033494321386669731,  0.0152147747479898134};
static constexpr double kAsinFloat[] = {0.166667508, 0.0749534325, 0.0454662964, 0.0241946397, 0.0421463422};
static constexpr double kAsinDouble[] = {
    0.1666666666666676,    0.0749999999997077209,  0.0446428571747217132, 0.0303819427000612886, 0.0223722152506300147,
    0.0173516067308550357, 0.0139808885874265993,  0.0113983279694715489, 0.0107836388995925712, 0.00369331449070467039,
    0.0217398379678128571, -0.0210454320153627233, 0.0326578494915654272};

/// Cody and Waite: pi/2 in two parts.
std::pair<Value*, Value*> MathFunctions::reduceQuarterTurns(Value* x, int quarterTurns) const {
  Value* n = v.unary(Intrinsic::rint, b.CreateFMul(x, c(0.63661977236758134308)));
  Value* r = v.fma(n, c(-1.5707963267948965580), x);
  r = v.fma(n, c(-6.1232339957367660359e-17), r);
  Value* turns = b.CreateFAdd(n, c(quarterTurns));
  return {r, b.CreateFSub(turns, b.CreateFMul(c(4), v.unary(Intrinsic::floor, b.CreateFMul(turns, c(0.25)))))};
}

Value* MathFunctions::sinInQuadrant(Value* r, Value* quadrant) const {
  Value* t = b.CreateFMul(r, r);
  Value* sine = v.fma(b.CreateFMul(r, t), poly(t, kSinFloat, kSinDouble), r);
  Value* cosine = v.fma(b.CreateFMul(t, t), poly(t, kCosFloat, kCosDouble), v.fma(t, c(-0.5), c(1)));
  Value* odd = b.CreateOr(b.CreateFCmpOEQ(quadrant, c(1)), b.CreateFCmpOEQ(quadrant, c(3)));
  Value* result = b.CreateSelect(odd, cosine, sine);
  return b.CreateSelect(b.CreateFCmpOGE(quadrant, c(2)), negate(result), result);
}

/// Floats are reduced in double.
Value* MathFunctions::trigonometric(Value* x, int quarterTurns) const {
  if (isDouble) {
    auto [r, quadrant] = reduceQuarterTurns(x, quarterTurns);
    return sinInQuadrant(r, quadrant);
  }
  Type* wide = v.lanes(b.getDoubleTy());
  auto [r, quadrant] = MathFunctions(v, wide).reduceQuarterTurns(b.CreateFPExt(x, wide), quarterTurns);
  Value* single = b.CreateFPTrunc(r, type);
  return sinInQuadrant(single, b.CreateFPTrunc(quadrant, type));
}

Value* MathFunctions::asin(Value* x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value* t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value* s = b.CreateSelect(isSmall, a, sqrt(t));
  Value* core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  return copySign(b.CreateSelect(isSmall, core, v.fma(core, c(-2), c(1.57079632679489661923))), x);
}

Value* MathFunctions::acos(Value* x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value* t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value* s = b.CreateSelect(isSmall, a, sqrt(t));
  Value* core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  Value* small = b.CreateFSub(c(1.57079632679489661923), copySign(core, x));
  Value* twice = b.CreateFMul(core, c(2));
  Value* large = b.CreateSelect(b.CreateFCmpOLT(x, c(0)), b.CreateFSub(c(3.14159265358979323846), twice), twice);
  return b.CreateSelect(isSmall, small, large);
}

Value* MathFunctions::atan(Value* x) const {
  Value *a = abs(x), *isLarge = b.CreateFCmpOGT(a, c(1));
  Value* z = b.CreateSelect(isLarge, reciprocal(a), a);  // in [0, 1]
  Value* offset = c(0);
  if (isDouble) {
    Value* high = b.CreateFCmpOGT(z, c(0.41421356237309504880));
    z = b.CreateSelect(high, b.CreateFDiv(b.CreateFSub(z, c(1)), b.CreateFAdd(z, c(1))), z);
    offset = b.CreateSelect(high, c(0.78539816339744830962), c(0));
  }
  Value* t = b.CreateFMul(z, z);
  Value* core = b.CreateFAdd(offset, v.fma(b.CreateFMul(z, t), poly(t, kAtanFloat, kAtanDouble), z));
  return copySign(b.CreateSelect(isLarge, b.CreateFSub(c(1.57079632679489661923), core), core), x);
}

Value* MathFunctions::atan2(Value* y, Value* x) const {
  Value *ax = abs(x), *ay = abs(y);
  Value* bothInfinite = b.CreateAnd(b.CreateFCmpOEQ(ax, c(kInfinity)), b.CreateFCmpOEQ(ay, c(kInfinity)));
  Value* bothZero = b.CreateAnd(b.CreateFCmpOEQ(ax, c(0)), b.CreateFCmpOEQ(ay, c(0)));
  Value* ratio = b.CreateFDiv(ay, ax);
  ratio = b.CreateSelect(bothInfinite, c(1), b.CreateSelect(bothZero, c(0), ratio));
  Value* angle = atan(ratio);
  Value* negative = b.CreateICmpSLT(v.asInteger(x), v.integer(v.asInteger(x)->getType(), 0));
  angle = b.CreateSelect(negative, b.CreateFSub(c(3.14159265358979323846), angle), angle);
  Value* unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, b.CreateFAdd(x, y), copySign(angle, y));
}
