// Shared by the kernels of attention: operands as matrices of one batch index, and scores.
#ifndef SGD_TARGETS_GPU_CODEGEN_ATTENTION_EMITTER_H
#define SGD_TARGETS_GPU_CODEGEN_ATTENTION_EMITTER_H

#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/codegen/attention_tiles.h"
#include "targets/gpu/codegen/entry_point.h"

namespace mlir::sgd::gpu {

class AttentionEmitter {
 public:
  AttentionEmitter(llvm::Module& module, fusion::AttentionOpInterface op, const KernelRequest& request)
      : op(op),
        sizes(fusion::getAttentionSizes(op)),
        b(module.getContext()),
        entry(createEntryPoint(module, b, request, 0, attentionThreads(op))),
        tiles(b, attentionThreads(op), request.symbol),
        block(b),
        digits(sizes.size(), nullptr) {
    entry.function->addFnAttr("nvvm.minctasm", std::to_string(attentionBlocksPerProcessor(op)));
  }
  virtual ~AttentionEmitter() = default;

  void run() {
    emitBlock();
    b.CreateRetVoid();
  }

 protected:
  using Value = llvm::Value;
  using Form = fusion::AttentionOpInterface;
  using Registers = AttentionTiles::Registers;

  virtual void emitBlock() = 0;

  /// Splits this block's number into that of its square of rows, which is returned, and the indices of `labels`.
  Value* splitBlock(int64_t squares, ArrayRef<int64_t> labels);
  /// Sets the indices of `labels` by delinearizing a row-major number (i32).
  void setDigits(ArrayRef<int64_t> labels, Value* number);
  /// Batch labels that the key has, or not.
  SmallVector<int64_t> batchLabels(bool ofKey);

  /// Operand or result number `index` at the present batch index: rows and columns by these labels.
  MatrixView operandView(Value* buffer, mlir::Value tensor, ArrayRef<int64_t> labels, int64_t row, int64_t column);
  Value* bufferOf(mlir::Value operand);
  MatrixView query() {
    return operandView(bufferOf(op.getQuery()), op.getQuery(), op.getQueryLabels(), Form::kRow, Form::kDepth);
  }
  MatrixView key() {
    return operandView(bufferOf(op.getKey()), op.getKey(), op.getKeyLabels(), Form::kColumn, Form::kDepth);
  }
  MatrixView value() {
    return operandView(bufferOf(op.getValue()), op.getValue(), op.getValueLabels(), Form::kColumn, Form::kValueDepth);
  }
  /// The element of a row statistic, at the present batch index; i64.
  Value* statisticAt(Value* buffer, Value* row);
  Value* loadStatistic(Value* buffer, Value* row);

  /// A score of the matmul `dot` at i32 `row` and `column`: -infinity where it does not count.
  Value* score(Value* dot, Value* row, Value* column);
  /// Whether the mask hides it, or null when there is none.
  Value* isMasked(Value* row, Value* column);
  /// Whether row and column exist and the diagonal lets the row see the column; null: always.
  Value* exists(Value* row, Value* column);
  /// e to the power of a score less the row's largest one.
  Value* exponential(Value* x);

  /// One past the last column that the square of rows from `firstRow` on sees.
  Value* columnEnd(Value* firstRow);
  /// `body` with the first row of each square in [begin, end); i32.
  void forEachSquare(Value* begin, Value* end, llvm::function_ref<void(Value*)> body) {
    block.count(begin, end, number(kSquare), body);
  }

  Value* number(int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); }
  Value* real(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  VectorBuilder scalars() { return VectorBuilder(b, 1); }

  fusion::AttentionOpInterface op;
  SmallVector<int64_t> sizes;  // by label
  llvm::IRBuilder<> b;
  EntryPoint entry;
  AttentionTiles tiles;
  BlockBuilder block;
  SmallVector<Value*> digits;  // by label: the present batch index; i32

 private:
  Value* elementAt(mlir::Value tensor, ArrayRef<int64_t> labels, Value* row, Value* column);
};

}  // namespace mlir::sgd::gpu

#endif
