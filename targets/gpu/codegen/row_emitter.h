// Shared by kernels that process whole rows: the function, its buffers, elements in them, the block's row.
#ifndef SGD_TARGETS_GPU_CODEGEN_ROW_EMITTER_H
#define SGD_TARGETS_GPU_CODEGEN_ROW_EMITTER_H

#include "targets/gpu/codegen/block_builder.h"
#include "targets/gpu/codegen/entry_point.h"
#include "targets/gpu/codegen/row_kernels.h"
#include "targets/kernels/row_ops.h"
#include "targets/kernels/scalar_loops.h"
#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::gpu {

class RowEmitter {
 public:
  RowEmitter(llvm::Module& module, Operation* op, const KernelRequest& request)
      : op(op), b(module.getContext()), block(b), loops(b), length(rowLength(op)), threads(rowKernelThreads(op)) {
    entry = createEntryPoint(module, b, request, 0, threads);
    thread = b.CreateZExt(block.thread(), b.getInt64Ty());
    row = b.CreateZExt(block.block(), b.getInt64Ty());
    for (Value operand : op->getOperands())
      inputs.push_back(entry.operands[cast<BlockArgument>(operand).getArgNumber()]);
  }
  virtual ~RowEmitter() = default;

  LogicalResult run() {
    if (numRows(op) > 0 && length > 0) emitRow();
    b.CreateRetVoid();
    return success(!hasFailed);
  }

 protected:
  virtual void emitRow() = 0;

  VectorBuilder scalars() { return VectorBuilder(b, 1); }
  llvm::Value* elementAt(llvm::Value* base, Type type, llvm::Value* index) {
    return b.CreateInBoundsGEP(scalars().memoryType(type), base, index);
  }
  /// An element as stored in memory.
  llvm::Value* load(llvm::Value* base, Type type, llvm::Value* index) {
    return b.CreateLoad(scalars().memoryType(type), elementAt(base, type, index));
  }
  void store(llvm::Value* value, llvm::Value* base, Type type, llvm::Value* index) {
    b.CreateStore(value, elementAt(base, type, index));
  }
  llvm::Value* number(int64_t value) { return b.getInt64(value); }
  /// `body` for each element of the row, dealt out to the threads one by one.
  void forEachElement(llvm::function_ref<void(llvm::Value*)> body) {
    block.count(thread, number(length), number(threads), body);
  }

  Operation* op;
  llvm::IRBuilder<> b;
  BlockBuilder block;
  ScalarLoops loops;
  int64_t length;
  unsigned threads;
  EntryPoint entry;
  llvm::Value *thread = nullptr, *row = nullptr;  // i64
  SmallVector<llvm::Value*> inputs;               // by operand of the op
  bool hasFailed = false;
};

}  // namespace mlir::sgd::gpu

#endif
