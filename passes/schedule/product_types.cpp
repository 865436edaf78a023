// Rules on types and strides; see product_types.h.
#include "passes/schedule/product_types.h"

#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

/// The type of 16 bits that holds all values of f8, as the other types of the product have it.
static Type widenFloat8(Type type, ArrayRef<Type> others, bool keepSums) {
  if (!isFloat8(type)) return type;
  Builder builder(type.getContext());
  if (!keepSums) return builder.getF32Type();
  bool hasHalf = llvm::any_of(others, [](Type other) { return other.isF16(); });
  return hasHalf ? Type(builder.getF16Type()) : Type(builder.getBF16Type());
}

ProductTypes mlir::sgd::getProductTypes(Type lhs, Type rhs, Type result, bool keepSums) {
  if (!isa<FloatType>(result)) return {result, result};
  Type narrow = result;
  // Rounded once, from the sum.
  if (isFloat8(result)) result = Float32Type::get(result.getContext());
  std::tie(lhs, rhs) = std::pair(widenFloat8(lhs, {rhs, result}, keepSums), widenFloat8(rhs, {lhs, result}, keepSums));
  if (keepSums && lhs == rhs && result == getSumType(lhs)) return {lhs, result};
  Type widest = lhs;
  for (Type other : {rhs, result}) {
    unsigned width = other.getIntOrFloatBitWidth(), most = widest.getIntOrFloatBitWidth();
    // Neither of bf16 and f16 holds the other.
    if (other != widest && width >= most) widest = width > most ? other : Float32Type::get(narrow.getContext());
  }
  return {widest, widest};
}

bool mlir::sgd::isFloat8Product(Type lhs, Type rhs, Type result) {
  return isFloat8(lhs) && mayMultiply(lhs, rhs, result) && !(isa<Float8E5M2Type>(lhs) && isa<Float8E5M2Type>(rhs));
}

bool mlir::sgd::hasFloat8Form(const ContractionShape& shape) {
  constexpr int64_t kMultiple = 16;
  auto isMultiple = [](int64_t value) { return value % kMultiple == 0; };
  int64_t cLeading = shape.cN == 1 ? shape.cM : shape.cN;
  return shape.aK == 1 && shape.bK == 1 && (shape.cN == 1 || shape.cM == 1) &&
         llvm::all_of(
             ArrayRef<int64_t>{shape.m, shape.n, shape.k, shape.aM, shape.bN, cLeading, shape.aStep, shape.bStep},
             isMultiple) &&
         llvm::all_of(shape.aBatch, isMultiple) && llvm::all_of(shape.bBatch, isMultiple) &&
         llvm::all_of(shape.cBatch, isMultiple);
}
