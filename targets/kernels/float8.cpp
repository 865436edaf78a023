// Between f32 and floats of 8 bits; see float8.h.
#include "targets/kernels/float8.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sgd::kernels;
using LValue = llvm::Value;

static constexpr unsigned kFloatMantissa = 23;
static constexpr int kFloatBias = 127;
static constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kNaN = 0x7fc00000;

std::optional<Float8Format> Float8Format::of(Type type) {
  if (isa<Float8E4M3FNType>(type)) return Float8Format(3, 7, /*hasInfinity=*/false);
  if (isa<Float8E5M2Type>(type)) return Float8Format(2, 15, /*hasInfinity=*/true);
  return std::nullopt;
}

LValue* Float8Format::round(const VectorBuilder& v, LValue* x) const {
  const unsigned dropped = kFloatMantissa - mantissa;
  LValue* bits = v.asInteger(x);
  auto number = [&](int32_t value) { return v.integer(bits->getType(), value); };
  LValue* magnitude = v.b.CreateAnd(bits, number(kMagnitude));
  LValue* odd = v.b.CreateAnd(v.b.CreateLShr(magnitude, number(dropped)), number(1));
  LValue* rounded = v.b.CreateAdd(magnitude, v.b.CreateAdd(odd, number((1 << (dropped - 1)) - 1)));
  rounded = v.b.CreateAnd(rounded, number(-(1 << dropped)));
  // Below the smallest normal number, 2^(1 - bias), all steps are equal: a sum with a float of such steps rounds to
  // them.
  LValue* steps = v.constant(x->getType(), std::ldexp(1.0, 1 - bias - static_cast<int>(mantissa) + kFloatMantissa));
  LValue* small = v.b.CreateFSub(v.b.CreateFAdd(v.asFloat(magnitude, v.b.getFloatTy()), steps), steps);
  LValue* isSmall = v.b.CreateICmpULT(magnitude, number((kFloatBias + 1 - bias) << kFloatMantissa));
  rounded = v.b.CreateSelect(isSmall, v.asInteger(small), rounded);
  // The largest exponent is the infinity's and NaN's, or without infinities an ordinary one but for its last number.
  const int exponents = (1 << (7 - mantissa)) - (hasInfinity ? 1 : 0);
  const int32_t mantissas = hasInfinity ? 0 : -1;
  const int32_t tooLarge = ((kFloatBias + exponents - bias) << kFloatMantissa) + mantissas * (1 << dropped);
  LValue* overflows = v.b.CreateICmpUGE(rounded, number(tooLarge));
  rounded = v.b.CreateSelect(overflows, number(hasInfinity ? kInfinity : kNaN), rounded);
  if (hasInfinity) rounded = v.b.CreateSelect(v.b.CreateICmpUGT(magnitude, number(kInfinity)), number(kNaN), rounded);
  return v.asFloat(v.b.CreateOr(rounded, v.b.CreateAnd(bits, number(~kMagnitude))), v.b.getFloatTy());
}

LValue* Float8Format::toMemory(const VectorBuilder& v, LValue* x) const {
  const unsigned dropped = kFloatMantissa - mantissa;
  LValue* bits = v.asInteger(x);
  auto number = [&](int32_t value) { return v.integer(bits->getType(), value); };
  LValue* magnitude = v.b.CreateAnd(bits, number(kMagnitude));
  LValue* normal = v.b.CreateSub(v.b.CreateLShr(magnitude, number(dropped)), number((kFloatBias - bias) << mantissa));
  LValue* steps = v.constant(x->getType(), std::ldexp(1.0, 1 - bias - static_cast<int>(mantissa) + kFloatMantissa));
  LValue* small =
      v.b.CreateSub(v.asInteger(v.b.CreateFAdd(v.asFloat(magnitude, v.b.getFloatTy()), steps)), v.asInteger(steps));
  LValue* isSmall = v.b.CreateICmpULT(magnitude, number((kFloatBias + 1 - bias) << kFloatMantissa));
  LValue* code = v.b.CreateSelect(isSmall, small, normal);
  // Infinity and NaN, whose exponent in f32 has no place here.
  const int32_t nan = hasInfinity ? 0x7e : 0x7f;
  if (hasInfinity) code = v.b.CreateSelect(v.b.CreateICmpEQ(magnitude, number(kInfinity)), number(0x7c), code);
  LValue* isNaN = v.b.CreateICmpUGT(magnitude, number(kInfinity));
  code = v.b.CreateSelect(isNaN, number(nan), code);
  LValue* sign = v.b.CreateAnd(v.b.CreateLShr(bits, number(24)), number(0x80));
  return v.b.CreateTrunc(v.b.CreateOr(code, sign), v.lanes(v.b.getInt8Ty()));
}

LValue* Float8Format::fromMemory(const VectorBuilder& v, LValue* bytes) const {
  const unsigned dropped = kFloatMantissa - mantissa;
  LValue* wide = v.b.CreateZExt(bytes, v.lanes(v.b.getInt32Ty()));
  auto number = [&](int32_t value) { return v.integer(wide->getType(), value); };
  LValue* magnitude = v.b.CreateAnd(wide, number(0x7f));
  LValue* normal =
      v.b.CreateAdd(v.b.CreateShl(magnitude, number(dropped)), number((kFloatBias - bias) << kFloatMantissa));
  llvm::Type* floats = v.lanes(v.b.getFloatTy());
  LValue* step = v.constant(floats, std::ldexp(1.0, 1 - bias - static_cast<int>(mantissa)));
  LValue* small = v.asInteger(v.b.CreateFMul(v.b.CreateSIToFP(magnitude, floats), step));
  LValue* result = v.b.CreateSelect(v.b.CreateICmpULT(magnitude, number(1 << mantissa)), small, normal);
  const int32_t largest = hasInfinity ? 0x7b : 0x7e;
  LValue* special = number(kNaN);
  if (hasInfinity) special = v.b.CreateSelect(v.b.CreateICmpEQ(magnitude, number(0x7c)), number(kInfinity), special);
  result = v.b.CreateSelect(v.b.CreateICmpUGT(magnitude, number(largest)), special, result);
  LValue* sign = v.b.CreateShl(v.b.CreateAnd(wide, number(0x80)), number(24));
  return v.asFloat(v.b.CreateOr(result, sign), v.b.getFloatTy());
}
