// Intrinsics and control flow of kernels.
#include "targets/gpu/codegen/block_builder.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir::sgd::gpu;
using LValue = llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

static LValue* call(llvm::IRBuilder<>& b, Intrinsic::ID id, llvm::ArrayRef<LValue*> arguments = {}) {
  return b.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type*>(), arguments);
}

LValue* BlockBuilder::thread() const { return call(b, Intrinsic::nvvm_read_ptx_sreg_tid_x); }

LValue* BlockBuilder::block() const { return call(b, Intrinsic::nvvm_read_ptx_sreg_ctaid_x); }

void BlockBuilder::barrier() const { call(b, Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b.getInt32(0)}); }

LValue* BlockBuilder::exchange(LValue* value, unsigned distance) const {
  auto exchangeWord = [&](LValue* word) {
    // All lanes participate, and any lane of the warp may be read.
    return call(b, Intrinsic::nvvm_shfl_sync_bfly_i32,
                {b.getInt32(0xFFFFFFFF), word, b.getInt32(distance), b.getInt32(31)});
  };
  llvm::Type* type = value->getType();
  unsigned bits = type->getScalarSizeInBits();
  LValue* number = type->isIntegerTy() ? value : b.CreateBitCast(value, b.getIntNTy(bits));
  LValue* result = nullptr;
  if (bits == 64) {
    LValue* low = exchangeWord(b.CreateTrunc(number, b.getInt32Ty()));
    LValue* high = exchangeWord(b.CreateTrunc(b.CreateLShr(number, 32), b.getInt32Ty()));
    result = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  } else {
    result = b.CreateZExtOrTrunc(exchangeWord(b.CreateZExtOrTrunc(number, b.getInt32Ty())), number->getType());
  }
  return type->isIntegerTy() ? result : b.CreateBitCast(result, type);
}

LValue* BlockBuilder::ballot(LValue* vote) const {
  return call(b, Intrinsic::nvvm_vote_ballot_sync, {b.getInt32(0xFFFFFFFF), vote});
}

llvm::GlobalVariable* BlockBuilder::sharedArray(llvm::Type* element, int64_t count, const llvm::Twine& name) const {
  auto* type = llvm::ArrayType::get(element, count);
  auto* array =
      new llvm::GlobalVariable(*b.GetInsertBlock()->getModule(), type, false, llvm::GlobalValue::InternalLinkage,
                               llvm::UndefValue::get(type), name, nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  array->setAlignment(llvm::Align(16));
  return array;
}

LValue* BlockBuilder::at(llvm::GlobalVariable* array, LValue* index) const {
  return b.CreateInBoundsGEP(array->getValueType(), array, {b.getInt32(0), index});
}

llvm::BasicBlock* BlockBuilder::newBlock(const char* name) const {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

void BlockBuilder::runIf(LValue* condition, llvm::function_ref<void()> body) const {
  llvm::BasicBlock *inside = newBlock("then"), *after = newBlock("after");
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void BlockBuilder::count(LValue* low, LValue* high, LValue* step, llvm::function_ref<void(LValue*)> body) const {
  llvm::BasicBlock *before = b.GetInsertBlock(), *inside = newBlock("loop"), *after = newBlock("done");
  b.CreateCondBr(b.CreateICmpSLT(low, high), inside, after);
  b.SetInsertPoint(inside);
  auto* position = b.CreatePHI(low->getType(), 2);
  position->addIncoming(low, before);
  body(position);
  LValue* next = b.CreateAdd(position, step);
  position->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, high), inside, after);
  b.SetInsertPoint(after);
}

llvm::AllocaInst* BlockBuilder::variable(llvm::Type* type) const {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}
