// Loops of scalar code with variables in memory, which LLVM's mem2reg turns into registers.
#ifndef SGD_TARGETS_KERNELS_SCALAR_LOOPS_H
#define SGD_TARGETS_KERNELS_SCALAR_LOOPS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace mlir::sgd::kernels {

class ScalarLoops {
 public:
  using Value = llvm::Value;
  using Body = llvm::function_ref<void()>;

  explicit ScalarLoops(llvm::IRBuilder<>& b) : b(b) {}

  /// A variable that lives as long as the function, set to `initial`.
  llvm::AllocaInst* variable(Value* initial) {
    llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> atEntry(&entry, entry.begin());
    llvm::AllocaInst* slot = atEntry.CreateAlloca(initial->getType());
    b.CreateStore(initial, slot);
    return slot;
  }
  Value* get(llvm::AllocaInst* slot) { return b.CreateLoad(slot->getAllocatedType(), slot); }
  void set(llvm::AllocaInst* slot, Value* value) { b.CreateStore(value, slot); }
  void add(llvm::AllocaInst* slot, Value* value) { set(slot, b.CreateAdd(get(slot), value)); }

  /// Runs `body` while `condition`, computed before each run, holds.
  void repeatWhile(llvm::function_ref<Value*()> condition, Body body) {
    llvm::BasicBlock *test = block("test"), *inside = block("body"), *after = block("after");
    b.CreateBr(test);
    b.SetInsertPoint(test);
    b.CreateCondBr(condition(), inside, after);
    b.SetInsertPoint(inside);
    body();
    b.CreateBr(test);
    b.SetInsertPoint(after);
  }

  /// Runs `body` with `slot` at low, low + step, ... below `high`.
  void count(Value* low, Value* high, int64_t step, llvm::function_ref<void(Value*)> body) {
    llvm::AllocaInst* slot = variable(low);
    repeatWhile([&] { return b.CreateICmpSLT(get(slot), high); },
                [&] {
                  body(get(slot));
                  add(slot, b.getInt64(step));
                });
  }

  /// i1 `first`, and where it holds what `second` computes; else false.
  Value* both(Value* first, llvm::function_ref<Value*()> second) {
    llvm::AllocaInst* result = variable(b.getFalse());
    runIf(first, [&] { set(result, second()); });
    return get(result);
  }

  void runIf(Value* condition, Body body) {
    llvm::BasicBlock *inside = block("then"), *after = block("after");
    b.CreateCondBr(condition, inside, after);
    b.SetInsertPoint(inside);
    body();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }

  Value* smaller(Value* x, Value* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); }

 private:
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
  }

  llvm::IRBuilder<>& b;
};

}  // namespace mlir::sgd::kernels

#endif
