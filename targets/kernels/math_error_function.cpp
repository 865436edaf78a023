// The error function and its complement.
#include "targets/kernels/math_function_set.h"

using namespace mlir::sgd::kernels;
using llvm::Value;

// erf(x) = x + x P(x^2) on |x| <= 1.
static constexpr double kErfFloat[] = {0.128379167,   -0.376126385,    0.112837827,    -0.0268654458,
                                       0.00522107484, -0.000848471089, 0.000112705409, -9.68012707e-6};
static constexpr double kErfDouble[] = {0.128379167095512574,    -0.376126389031837525,     0.112837916709551256,
                                        -0.0268661706451312191,  0.00522397762544168223,    -0.000854832702340365957,
                                        0.000120553329789136824, -0.0000149256502381715753, 1.64621108115488478e-6,
                                        -1.63657691588217182e-7, 1.48060333244350444e-8,    -1.22777858740806814e-9,
                                        9.32400296953051808e-11, -6.19763117948169055e-12,  2.80799170500082154e-13};
// erf(x) = 1 - exp(-x P(x)) on 0 <= x <= 3.95, with the first coefficient in two parts.
static constexpr double kErfFirst = 1.12837923,
                        kErfRest[] = {-5.41198197e-8, 0.636619389,     0.102777831,    -0.0191530641, -0.000160397482,
                                      0.00166702899,  -0.000632837764, 0.000117641532, -9.25629593e-6};
// (1 + 2 x) exp(x^2) erfc(x) in (x - 4) / (x + 4), on 0.4 <= x <= 10.5 and 27.5.
static constexpr double kErfcFloat[] = {1.23299512,   -0.139621032,  0.0153800888, 0.0680932017, -0.101050561,
                                        0.0937780847, -0.0662148327, 0.0369869914, -0.016689762, 0.00519187515};
static constexpr double kErfcDouble[] = {1.23299511862555256,    -0.139621116840561635,     0.0153796521026018339,
                                         0.0680970542545863661,  -0.101039066035233002,     0.0937328350021905342,
                                         -0.0663303658369969269, 0.0371675154729623339,     -0.0161977337670959363,
                                         0.00503197058178812713, -0.000757775249519575195,  -0.000199260135669816835,
                                         0.00015062976166151813, -0.0000243867605635311571, -0.0000112428549496728783,
                                         5.6808528202623606e-6,  3.2684704091300884e-7,     -7.83558204492036569e-7,
                                         4.4286400856933563e-8,  7.48733187521938257e-8,    -4.17387305622391193e-9};

/// Floats by expm1, which keeps small arguments exact.
Value* MathFunctions::erf(Value* x) const {
  Value* a = abs(x);
  if (!isDouble) {
    Value* limited = atMost(a, 3.95);
    Value* y = v.fma(limited, c(kErfFirst), b.CreateFMul(limited, v.polynomial(limited, kErfRest)));
    return copySign(expm1Near(negate(y)), x);
  }
  Value *t = b.CreateFMul(x, x), *isSmall = b.CreateFCmpOLT(a, c(1));
  Value* small = v.fma(x, poly(b.CreateSelect(isSmall, t, c(0)), kErfFloat, kErfDouble), x);
  return b.CreateSelect(isSmall, small, copySign(b.CreateFSub(c(1), erfc(a)), x));
}

/// 1 - erf below 1/2; above, exp(-x^2) with the square's rounding error made good.
Value* MathFunctions::erfc(Value* x) const {
  Value* a = atMost(abs(x), isDouble ? 27.5 : 10.5);
  Value *square = b.CreateFMul(a, a), *lost = v.fma(a, a, negate(square));
  Value* decay = expOf(negate(square), /*base2=*/false, negate(lost));
  Value* u = b.CreateFDiv(b.CreateFSub(a, c(4)), b.CreateFAdd(a, c(4)));
  Value* tail = b.CreateFDiv(b.CreateFMul(decay, poly(u, kErfcFloat, kErfcDouble)), v.fma(a, c(2), c(1)));
  Value* mirrored = b.CreateSelect(b.CreateFCmpOLT(x, c(0)), b.CreateFSub(c(2), tail), tail);
  Value* isSmall = b.CreateFCmpOLT(a, c(0.5));
  Value* limited = b.CreateSelect(isSmall, x, c(0));
  Value* small =
      b.CreateFSub(c(1), v.fma(limited, poly(b.CreateFMul(limited, limited), kErfFloat, kErfDouble), limited));
  return b.CreateSelect(isSmall, small, mirrored);
}
