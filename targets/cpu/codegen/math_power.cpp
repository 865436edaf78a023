// Powers, roots, rounding and remainders.
#include "targets/cpu/codegen/math_function_set.h"
#include "targets/cpu/codegen/math_functions.h"

using namespace mlir::sgd::cpu;
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

Value* MathFunctions::viaDouble(Value* x, Value* y, Value* (MathFunctions::*function)(Value*, Value*) const) const {
  Type* wide = v.lanes(b.getDoubleTy());
  MathFunctions f(v, wide);
  return b.CreateFPTrunc((f.*function)(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide)), type);
}

/// exp(y log|x|); floats in double, where the product's rounding does not show.
Value* MathFunctions::pow(Value* x, Value* y) const {
  if (!isDouble) return viaDouble(x, y, &MathFunctions::pow);
  Value* a = abs(x);
  Value* power = exp(b.CreateFMul(y, log(a)));
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

llvm::Value* mlir::sgd::cpu::emitRemainder(const VectorBuilder& v, llvm::Value* x, llvm::Value* y) {
  if (x->getType()->getScalarType()->isDoubleTy()) return doubleRemainder(v, x, y, 2080);
  llvm::Type* wide = v.lanes(v.b.getDoubleTy());
  return v.b.CreateFPTrunc(doubleRemainder(v, v.b.CreateFPExt(x, wide), v.b.CreateFPExt(y, wide), 280), x->getType());
}
