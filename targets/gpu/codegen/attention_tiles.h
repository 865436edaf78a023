// Squares of scores and their matmuls with matrices, by the threads of a block together: a thread has some rows and
// four columns of a square, operands go through shared memory in chunks of at most 64 columns.
#ifndef SGD_TARGETS_GPU_CODEGEN_ATTENTION_TILES_H
#define SGD_TARGETS_GPU_CODEGEN_ATTENTION_TILES_H

#include <functional>

#include "dialects/sgd/sgd_dialect.h"
#include "targets/gpu/codegen/block_builder.h"
#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// Rows and columns of a square of scores.
inline constexpr int64_t kSquare = 64;

/// A matrix in global memory; strides count elements.
struct MatrixView {
  llvm::Value* base = nullptr;
  Type element;
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 1;
  bool isAligned = false;  ///< four neighbouring columns, from a multiple of four on, are one access
};

class AttentionTiles {
 public:
  using Value = llvm::Value;
  /// Variables of a thread: by row, then by column.
  using Registers = SmallVector<SmallVector<llvm::AllocaInst*>>;

  /// `threads`, 128 or 256, are those of a block; shared arrays begin with `symbol`.
  AttentionTiles(llvm::IRBuilder<>& b, unsigned threads, StringRef symbol);

  /// Columns of a chunk of a matrix with so many columns: 16, 32 or 64; and how many chunks it has.
  static int64_t chunkWidth(int64_t columns);
  static int64_t numChunks(int64_t columns) { return llvm::divideCeil(columns, chunkWidth(columns)); }
  /// Rows of a square that a thread has, of `threads`.
  static unsigned rowsOfThread(unsigned threads) { return kSquare * 16 / threads; }

  /// Variables for this thread's part of a square, or of `columns` columns by the square's rows; undefined.
  Registers makeSquare() const { return makeRegisters(kSquare); }
  Registers makeAccumulators(int64_t columns) const { return makeRegisters(numChunks(columns) * chunkWidth(columns)); }
  void clear(const Registers& registers) const;

  /// square = rows of `left` from `leftRow` on times rows of `right` from `rightRow` on; i32. Elements outside are 0.
  void multiply(const Registers& square, const MatrixView& left, Value* leftRow, const MatrixView& right,
                Value* rightRow) const;

  /// accumulators += square times rows of `right` from `rightRow` on. Uses up the shared memory of `multiply`.
  void accumulate(const Registers& accumulators, const Registers& square, const MatrixView& right,
                  Value* rightRow) const;

  /// Writes `accumulators` to `to`, from row `firstRow` on; `factor`, unless null, is by row of the thread.
  void store(const Registers& accumulators, const MatrixView& to, Value* firstRow, ArrayRef<Value*> factors) const;

  /// Row and column, in a square, of the thread's row `i` and column `j`; i32.
  Value* rowInSquare(unsigned i) const { return b.CreateAdd(ty, b.getInt32(rowStep * i)); }
  Value* columnInSquare(unsigned j) const { return b.CreateAdd(tx, b.getInt32(16 * j)); }
  unsigned numRows() const { return rows; }
  static constexpr unsigned kColumns = 4;

  /// Combines a value over the threads that share rows.
  Value* combineColumns(Value* value, llvm::function_ref<Value*(Value*, Value*)> combine) const;
  /// Whether this thread has the first column of its rows.
  Value* hasFirstColumn() const { return b.CreateICmpEQ(tx, b.getInt32(0)); }

  llvm::LoadInst* read(llvm::AllocaInst* variable) const {
    return b.CreateLoad(variable->getAllocatedType(), variable);
  }

  llvm::IRBuilder<>& b;
  BlockBuilder block;

 private:
  Registers makeRegisters(int64_t columns) const;
  void loadChunk(llvm::GlobalVariable* to, const MatrixView& from, Value* firstRow, Value* firstColumn) const;
  void loadAligned(llvm::GlobalVariable* to, const MatrixView& from, Value* firstRow, Value* firstColumn) const;
  void loadElements(llvm::GlobalVariable* to, const MatrixView& from, Value* firstRow, Value* firstColumn) const;
  Value* address(const MatrixView& matrix, Value* row, Value* column) const;
  /// Element `position`, an i32, plus `offset` of a shared array: the offset becomes part of the access.
  Value* sharedAt(llvm::GlobalVariable* array, Value* position, int64_t offset) const;
  Value* loadShared(llvm::GlobalVariable* array, Value* position, int64_t offset, unsigned lanes) const;
  /// Position of a row and column in a shared array of rows of `stride` elements.
  Value* position(Value* row, int64_t stride, Value* column) const {
    return b.CreateAdd(b.CreateMul(row, number(stride)), column);
  }
  void multiplyChunk(const Registers& square, int64_t width) const;
  void accumulateChunk(const Registers& accumulators, int64_t chunk, int64_t width) const;
  void multiplyAdd(llvm::AllocaInst* sum, Value* x, Value* y) const {
    b.CreateStore(b.CreateIntrinsic(b.getFloatTy(), llvm::Intrinsic::fma, {x, y, read(sum)}), sum);
  }
  Value* number(int64_t value) const { return b.getInt32(static_cast<uint32_t>(value)); }

  unsigned threads, rows, rowStep;
  llvm::GlobalVariable *left, *right;
  Value *thread, *tx, *ty;  // i32
};

}  // namespace mlir::sgd::gpu

#endif
