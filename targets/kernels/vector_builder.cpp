// Types, constants and conversions of lane values.
#include "targets/kernels/vector_builder.h"

#include "llvm/IR/Module.h"
#include "targets/kernels/float8.h"

using namespace mlir::sgd::kernels;
using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

llvm::Type* VectorBuilder::computeType(mlir::Type type) const {
  llvm::LLVMContext& context = b.getContext();
  if (type.isF64()) return llvm::Type::getDoubleTy(context);
  if (mlir::isa<mlir::FloatType>(type)) return llvm::Type::getFloatTy(context);
  return llvm::Type::getIntNTy(context, type.getIntOrFloatBitWidth());
}

llvm::Type* VectorBuilder::memoryType(mlir::Type type) const {
  llvm::LLVMContext& context = b.getContext();
  if (Float8Format::of(type)) return llvm::Type::getInt8Ty(context);
  if (type.isBF16()) return llvm::Type::getInt16Ty(context);
  if (type.isF16()) return llvm::Type::getHalfTy(context);
  if (type.isInteger(1)) return llvm::Type::getInt8Ty(context);
  return computeType(type);
}

llvm::Value* VectorBuilder::asInteger(llvm::Value* x) const {
  return b.CreateBitCast(x, lanes(llvm::Type::getIntNTy(b.getContext(), x->getType()->getScalarSizeInBits())));
}

llvm::Value* VectorBuilder::polynomial(llvm::Value* x, llvm::ArrayRef<double> coefficients) const {
  llvm::Value* sum = constant(x->getType(), coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(x->getType(), coefficient));
  return sum;
}

llvm::Value* VectorBuilder::lookUp(llvm::ArrayRef<int32_t> table, llvm::Value* index) const {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto bits = llvm::ArrayRef(reinterpret_cast<const uint32_t*>(table.data()), table.size());
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), bits);
  // One global for all look-ups: equal constants are one object in a context.
  std::string name = "lookup." + std::to_string(table.size()) + "." + std::to_string(table.front());
  llvm::GlobalVariable* global = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (!global || global->getInitializer() != data)
    global = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, name);
  llvm::Value* where = b.CreateInBoundsGEP(b.getInt32Ty(), global, index);
  if (!index->getType()->isVectorTy()) return b.CreateAlignedLoad(b.getInt32Ty(), where, llvm::Align(4));
  return b.CreateMaskedGather(lanes(b.getInt32Ty()), where, llvm::Align(4),
                              llvm::Constant::getAllOnesValue(lanes(b.getInt1Ty())));
}

/// Bits of the float rounded to nearest even bf16, in the upper half; a NaN stays a (quiet) NaN.
llvm::Value* VectorBuilder::bfloatBits(llvm::Value* x) const {
  llvm::Value* bits = asInteger(x);
  llvm::Type* type = bits->getType();
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(bits, integer(type, 16)), integer(type, 1));
  llvm::Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, integer(type, 0x7FFF)));
  llvm::Value* quiet = b.CreateOr(bits, integer(type, 0x400000));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
}

llvm::Value* VectorBuilder::round(llvm::Value* x, mlir::Type type) const {
  if (auto format = Float8Format::of(type)) return format->round(*this, x);
  if (type.isBF16()) {
    llvm::Value* bits = bfloatBits(x);
    return asFloat(b.CreateAnd(bits, integer(bits->getType(), static_cast<int32_t>(0xFFFF0000))), b.getFloatTy());
  }
  if (type.isF16()) return b.CreateFPExt(b.CreateFPTrunc(x, lanes(b.getHalfTy())), lanes(b.getFloatTy()));
  return x;
}

llvm::Value* VectorBuilder::toMemory(llvm::Value* x, mlir::Type type) const {
  if (auto format = Float8Format::of(type)) return format->toMemory(*this, x);
  if (type.isBF16()) {
    llvm::Value* bits = asInteger(x);
    return b.CreateTrunc(b.CreateLShr(bits, integer(bits->getType(), 16)), lanes(b.getInt16Ty()));
  }
  if (type.isF16()) return b.CreateFPTrunc(x, lanes(b.getHalfTy()));
  if (type.isInteger(1)) return b.CreateZExt(x, lanes(b.getInt8Ty()));
  return x;
}

llvm::Value* VectorBuilder::fromMemory(llvm::Value* x, mlir::Type type) const {
  if (auto format = Float8Format::of(type)) return format->fromMemory(*this, x);
  if (type.isBF16()) {
    llvm::Value* wide = b.CreateZExt(x, lanes(b.getInt32Ty()));
    return asFloat(b.CreateShl(wide, integer(wide->getType(), 16)), b.getFloatTy());
  }
  if (type.isF16()) return b.CreateFPExt(x, lanes(b.getFloatTy()));
  if (type.isInteger(1)) return b.CreateICmpNE(x, integer(x->getType(), 0));
  return x;
}
