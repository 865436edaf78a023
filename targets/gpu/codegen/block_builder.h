// Indices, barriers and shared memory of a block's threads, as LLVM IR with NVVM's intrinsics.
#ifndef SGD_TARGETS_GPU_CODEGEN_BLOCK_BUILDER_H
#define SGD_TARGETS_GPU_CODEGEN_BLOCK_BUILDER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace mlir::sgd::gpu {

/// Address spaces of NVVM.
inline constexpr unsigned kGlobal = 1, kShared = 3;

class BlockBuilder {
 public:
  using Value = llvm::Value;

  explicit BlockBuilder(llvm::IRBuilder<>& b) : b(b) {}

  /// Number of this thread in its block, and of the block in the grid; i32.
  Value* thread() const;
  Value* block() const;

  /// Every thread of the block is here before one goes on, and sees what all have written.
  void barrier() const;

  /// The value of the thread of the warp whose number differs in the bits of `distance`. All threads of the warp must
  /// be here.
  Value* exchange(Value* value, unsigned distance) const;

  /// i32: a bit for each lane of the warp, set where `vote` (i1) is. All threads of the warp must be here.
  Value* ballot(Value* vote) const;

  /// An array that the threads of a block share; its contents are undefined at first.
  llvm::GlobalVariable* sharedArray(llvm::Type* element, int64_t count, const llvm::Twine& name) const;
  Value* at(llvm::GlobalVariable* array, Value* index) const;

  /// Runs `body` in the threads where `condition` holds.
  void runIf(Value* condition, llvm::function_ref<void()> body) const;

  /// Runs `body` with low, low + step, ... below `high`; the numbers are of one type and threads may differ in them.
  void count(Value* low, Value* high, Value* step, llvm::function_ref<void(Value*)> body) const;

  /// A variable of the thread, which becomes a register.
  llvm::AllocaInst* variable(llvm::Type* type) const;

  llvm::IRBuilder<>& b;

 private:
  llvm::BasicBlock* newBlock(const char* name) const;
};

}  // namespace mlir::sgd::gpu

#endif
