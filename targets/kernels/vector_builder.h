// An IR builder for values of a fixed number of lanes: width 1 is scalar code, larger widths are LLVM vectors. Code of
// different widths rounds alike. f8, bf16 and f16 values are held as floats that they represent exactly; i1 values as
// i1.
#ifndef SGD_TARGETS_KERNELS_VECTOR_BUILDER_H
#define SGD_TARGETS_KERNELS_VECTOR_BUILDER_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sgd::kernels {

class VectorBuilder {
 public:
  VectorBuilder(llvm::IRBuilder<>& builder, unsigned width) : b(builder), width(width) {}

  /// Type of one element in computations, and as stored in memory.
  llvm::Type* computeType(mlir::Type type) const;
  llvm::Type* memoryType(mlir::Type type) const;
  /// The type for `width` lanes of `scalar`.
  llvm::Type* lanes(llvm::Type* scalar) const {
    return width == 1 ? scalar : llvm::FixedVectorType::get(scalar, width);
  }

  llvm::Value* splat(llvm::Value* scalar) const {
    return width == 1 || scalar->getType()->isVectorTy() ? scalar : b.CreateVectorSplat(width, scalar);
  }
  /// A floating-point or integer constant in all lanes of `like`'s type.
  llvm::Value* constant(llvm::Type* like, double value) const { return llvm::ConstantFP::get(like, value); }
  llvm::Value* integer(llvm::Type* like, int64_t value) const { return llvm::ConstantInt::getSigned(like, value); }

  llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
  }
  llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* x) const { return b.CreateIntrinsic(x->getType(), id, {x}); }
  llvm::Value* binary(llvm::Intrinsic::ID id, llvm::Value* x, llvm::Value* y) const {
    return b.CreateIntrinsic(x->getType(), id, {x, y});
  }
  /// The same lanes as integers of the same width, or as floats.
  llvm::Value* asInteger(llvm::Value* x) const;
  llvm::Value* asFloat(llvm::Value* x, llvm::Type* scalar) const { return b.CreateBitCast(x, lanes(scalar)); }
  /// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
  llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<double> coefficients) const;

  /// table[index], for indices (i64) that are inside; the table becomes read-only data.
  llvm::Value* lookUp(llvm::ArrayRef<int32_t> table, llvm::Value* index) const;

  /// Rounds a float to what `type` (f8, bf16 or f16) can hold; other types are unchanged.
  llvm::Value* round(llvm::Value* x, mlir::Type type) const;
  /// Between computing and memory types.
  llvm::Value* toMemory(llvm::Value* x, mlir::Type type) const;
  llvm::Value* fromMemory(llvm::Value* x, mlir::Type type) const;

  llvm::IRBuilder<>& b;
  unsigned width;

 private:
  llvm::Value* bfloatBits(llvm::Value* x) const;
};

}  // namespace mlir::sgd::kernels

#endif
