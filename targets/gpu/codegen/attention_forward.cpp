// The kernel of fusion.attention: maximum and sum of a row grow with each square of columns, and what was summed before
// is scaled to the new maximum (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao and
// others, "FlashAttention", 2022).
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/attention_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

namespace {

class ForwardEmitter : public AttentionEmitter {
 public:
  using AttentionEmitter::AttentionEmitter;

 private:
  void emitBlock() override;
  /// Scores become exponentials, relative to the maximum so far.
  void addToRows(const Registers& square, Value* firstRow, Value* firstColumn);
  void addToRow(ArrayRef<llvm::AllocaInst*> scores, Value* row, Value* firstColumn, unsigned i);
  void storeRows(Value* firstRow);
  Value* larger(Value* x, Value* y) { return scalars().binary(llvm::Intrinsic::maxnum, x, y); }

  Registers accumulators;
  SmallVector<llvm::AllocaInst*> max, sum;  // by row of the thread; the sum is of this thread's columns alone
};

void ForwardEmitter::emitBlock() {
  int64_t squares = llvm::divideCeil(sizes[Form::kRow], kSquare);
  SmallVector<int64_t> labels = llvm::to_vector(llvm::seq<int64_t>(Form::kBatch, sizes.size()));
  // The last rows see most columns: they begin first.
  Value* square = b.CreateSub(number(squares - 1), splitBlock(squares, labels));
  Value* firstRow = b.CreateMul(square, number(kSquare));
  Registers scores = tiles.makeSquare();
  accumulators = tiles.makeAccumulators(sizes[Form::kValueDepth]);
  tiles.clear(accumulators);
  for (unsigned i = 0; i < tiles.numRows(); ++i) {
    max.push_back(block.variable(b.getFloatTy()));
    sum.push_back(block.variable(b.getFloatTy()));
    b.CreateStore(real(-INFINITY), max.back());
    b.CreateStore(real(0), sum.back());
  }
  MatrixView queries = query(), keys = key(), values = value();
  forEachSquare(number(0), columnEnd(firstRow), [&](Value* firstColumn) {
    tiles.multiply(scores, queries, firstRow, keys, firstColumn);
    addToRows(scores, firstRow, firstColumn);
    tiles.accumulate(accumulators, scores, values, firstColumn);
  });
  storeRows(firstRow);
}

void ForwardEmitter::addToRows(const Registers& square, Value* firstRow, Value* firstColumn) {
  for (unsigned i = 0; i < tiles.numRows(); ++i)
    addToRow(square[i], b.CreateAdd(firstRow, tiles.rowInSquare(i)), firstColumn, i);
}

void ForwardEmitter::addToRow(ArrayRef<llvm::AllocaInst*> scores, Value* row, Value* firstColumn, unsigned i) {
  SmallVector<Value*> values;
  Value* highest = tiles.read(max[i]);
  for (auto [j, variable] : llvm::enumerate(scores)) {
    values.push_back(score(tiles.read(variable), row, b.CreateAdd(firstColumn, tiles.columnInSquare(j))));
    highest = larger(highest, values.back());
  }
  highest = tiles.combineColumns(highest, [&](Value* x, Value* y) { return larger(x, y); });
  // While nothing counts, exponentials are relative to 0: -infinity less itself is no number.
  Value* base = b.CreateSelect(b.CreateFCmpOEQ(highest, real(-INFINITY)), real(0), highest);
  Value* factor = exponential(b.CreateFSub(tiles.read(max[i]), base));
  Value* total = b.CreateFMul(tiles.read(sum[i]), factor);
  for (auto [variable, value] : llvm::zip(scores, values)) {
    Value* weight = exponential(b.CreateFSub(value, base));
    total = b.CreateFAdd(total, weight);
    b.CreateStore(weight, variable);
  }
  b.CreateStore(highest, max[i]);
  b.CreateStore(total, sum[i]);
  for (llvm::AllocaInst* variable : accumulators[i])
    b.CreateStore(b.CreateFMul(tiles.read(variable), factor), variable);
}

void ForwardEmitter::storeRows(Value* firstRow) {
  auto attention = cast<fusion::AttentionOp>(op.getOperation());
  SmallVector<Value*> inverses;
  for (unsigned i = 0; i < tiles.numRows(); ++i) {
    Value* total = tiles.combineColumns(tiles.read(sum[i]), [&](Value* x, Value* y) { return b.CreateFAdd(x, y); });
    // No score but -infinity: the largest one less itself is no number.
    Value* isEmpty = b.CreateFCmpOEQ(tiles.read(max[i]), real(-INFINITY));
    total = b.CreateSelect(isEmpty, real(NAN), total);
    Value* row = b.CreateAdd(firstRow, tiles.rowInSquare(i));
    inverses.push_back(b.CreateFDiv(real(1), total));
    Value* isOwn = b.CreateAnd(tiles.hasFirstColumn(), b.CreateICmpULT(row, number(sizes[Form::kRow])));
    block.runIf(isOwn, [&] {
      b.CreateStore(tiles.read(max[i]), statisticAt(entry.results[1], row));
      b.CreateStore(total, statisticAt(entry.results[2], row));
    });
  }
  MatrixView out = operandView(entry.results[0], attention.getOut(), op.getOutLabels(), Form::kRow, Form::kValueDepth);
  tiles.store(accumulators, out, firstRow, inverses);
}

}  // namespace

void mlir::sgd::gpu::emitAttentionForward(llvm::Module& module, fusion::AttentionOpInterface op,
                                          const KernelRequest& request) {
  ForwardEmitter(module, op, request).run();
}
