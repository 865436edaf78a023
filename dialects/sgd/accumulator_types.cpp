// The types that reductions and matmuls of elements may have.
#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

Type mlir::sgd::getAccumulatorType(Type type) {
  if (type.isF16() || type.isBF16() || isFloat8(type)) return Float32Type::get(type.getContext());
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() < 32 ? IntegerType::get(type.getContext(), 32) : type;
}

bool mlir::sgd::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool mlir::sgd::mayMultiply(Type lhs, Type rhs, Type result) {
  if (isFloat8(lhs)) return isFloat8(rhs) && isa<Float32Type, Float16Type, BFloat16Type>(result);
  return lhs == rhs && (result == lhs || result == getAccumulatorType(lhs));
}

bool mlir::sgd::isReducedType(Type result, Type type) {
  return result == getAccumulatorType(type) || (result == type && isa<FloatType>(type));
}
