// Hyperbolic functions and their inverses, through expm1 and log1p, which keep small arguments exact.
#include "targets/kernels/math_function_set.h"

using namespace mlir::sgd::kernels;
using llvm::Value;

Value* MathFunctions::tanh(Value* x) const {
  Value* e = expm1(b.CreateFMul(abs(x), c(-2)));
  return copySign(b.CreateFDiv(e, b.CreateFAdd(e, c(2))), x);
}

Value* MathFunctions::sinh(Value* x) const {
  // (e + e / (e + 1)) / 2 with e = expm1(|x|); halves of the exponent beyond its range.
  Value *a = abs(x), *e = expm1(a);
  Value* usual = b.CreateFMul(c(0.5), b.CreateFAdd(e, b.CreateFDiv(e, b.CreateFAdd(e, c(1)))));
  Value* root = exp(b.CreateFMul(a, c(0.5)));
  Value* huge = b.CreateFMul(b.CreateFMul(c(0.5), root), root);
  return copySign(b.CreateSelect(b.CreateFCmpOGT(a, c(isDouble ? 700 : 80)), huge, usual), x);
}

Value* MathFunctions::cosh(Value* x) const {
  Value* root = exp(b.CreateFMul(abs(x), c(0.5)));
  Value* e = b.CreateFMul(root, root);
  Value* usual = b.CreateFMul(c(0.5), b.CreateFAdd(exp(abs(x)), exp(negate(abs(x)))));
  Value* huge = b.CreateFMul(b.CreateFMul(c(0.5), root), root);
  return b.CreateSelect(b.CreateFCmpOGT(e, c(1e30)), huge, usual);
}

Value* MathFunctions::asinh(Value* x) const {
  // log1p(a + a^2 / (1 + sqrt(1 + a^2))); beyond the square's range log(a) + ln 2.
  Value *a = abs(x), *isHuge = b.CreateFCmpOGT(a, c(isDouble ? 1e150 : 1e18));
  Value* square = b.CreateFMul(a, a);
  Value* usual = log1p(b.CreateFAdd(a, b.CreateFDiv(square, b.CreateFAdd(c(1), sqrt(b.CreateFAdd(square, c(1)))))));
  return copySign(b.CreateSelect(isHuge, b.CreateFAdd(log(a), c(0.69314718055994530942)), usual), x);
}

Value* MathFunctions::acosh(Value* x) const {
  Value *t = b.CreateFSub(x, c(1)), *isHuge = b.CreateFCmpOGT(x, c(isDouble ? 1e150 : 1e18));
  Value* usual = log1p(b.CreateFAdd(t, sqrt(b.CreateFMul(t, b.CreateFAdd(x, c(1))))));
  Value* result = b.CreateSelect(isHuge, b.CreateFAdd(log(x), c(0.69314718055994530942)), usual);
  return b.CreateSelect(b.CreateFCmpOLT(x, c(1)), c(kNan), result);
}

Value* MathFunctions::atanh(Value* x) const {
  Value* a = abs(x);
  Value* ratio = b.CreateFDiv(b.CreateFMul(c(2), a), b.CreateFSub(c(1), a));
  return copySign(b.CreateFMul(c(0.5), log1p(ratio)), x);
}
