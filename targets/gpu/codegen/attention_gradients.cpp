// The kernels of attention's gradients. Weights are computed again from the statistics of rows; a block owns what it
// sums, so that there is one order of sums.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/attention_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

namespace {

class GradientEmitter : public AttentionEmitter {
 public:
  using AttentionEmitter::AttentionEmitter;

 protected:
  /// Of a row: the offset of scores, the divisor of weights, and the value that is subtracted from their gradients.
  struct RowStatistics {
    Value *max, *inverse, *dot;
  };

  /// Operands 4 to 6.
  RowStatistics loadStatistics(Value* row) {
    return {loadStatistic(operand(4), row), b.CreateFDiv(real(1), loadStatistic(operand(5), row)),
            loadStatistic(operand(6), row)};
  }
  MatrixView outGradient() {
    return operandView(operand(3), op->getOperand(3), op.getOutLabels(), Form::kRow, Form::kValueDepth);
  }
  Value* operand(unsigned number) { return bufferOf(op->getOperand(number)); }

  Value* weight(Value* dot, Value* row, Value* column, const RowStatistics& statistics) {
    Value* power = exponential(b.CreateFSub(score(dot, row, column), statistics.max));
    Value* result = b.CreateFMul(power, statistics.inverse);
    // -infinity where it does not count, less a maximum that may be no number.
    Value* counts = exists(row, column);
    return counts ? b.CreateSelect(counts, result, real(0)) : result;
  }
  Value* scoreGradient(Value* weight, Value* weightGradient, Value* row, Value* column,
                       const RowStatistics& statistics) {
    Value* result = b.CreateFMul(weight, b.CreateFSub(weightGradient, statistics.dot));
    double scale = op.getScale().convertToDouble();
    if (scale != 1) result = b.CreateFMul(result, real(scale));
    if (Value* counts = exists(row, column)) result = b.CreateSelect(counts, result, real(0));
    Value* masked = isMasked(row, column);
    return masked ? b.CreateSelect(masked, real(0), result) : result;
  }
};

/// Rows of the square are queries.
class QueryGradientEmitter : public GradientEmitter {
 public:
  using GradientEmitter::GradientEmitter;

 private:
  void emitBlock() override;
  void differentiate(const Registers& scores, const Registers& weightGradients, Value* firstRow, Value* firstColumn);
};

void QueryGradientEmitter::emitBlock() {
  auto gradient = cast<fusion::AttentionQueryGradientOp>(op.getOperation());
  int64_t squares = llvm::divideCeil(sizes[Form::kRow], kSquare);
  SmallVector<int64_t> labels = llvm::to_vector(llvm::seq<int64_t>(Form::kBatch, sizes.size()));
  Value* square = b.CreateSub(number(squares - 1), splitBlock(squares, labels));
  Value* firstRow = b.CreateMul(square, number(kSquare));
  Registers scores = tiles.makeSquare(), weightGradients = tiles.makeSquare(),
            accumulators = tiles.makeAccumulators(sizes[Form::kDepth]);
  tiles.clear(accumulators);
  MatrixView queries = query(), keys = key(), values = value(), outGradients = outGradient();
  forEachSquare(number(0), columnEnd(firstRow), [&](Value* firstColumn) {
    tiles.multiply(scores, queries, firstRow, keys, firstColumn);
    tiles.multiply(weightGradients, outGradients, firstRow, values, firstColumn);
    differentiate(scores, weightGradients, firstRow, firstColumn);
    tiles.accumulate(accumulators, scores, keys, firstColumn);
  });
  MatrixView result =
      operandView(entry.results[0], gradient.getGradient(), gradient.getGradientLabels(), Form::kRow, Form::kDepth);
  tiles.store(accumulators, result, firstRow, {});
}

/// Turns dot products into gradients of scores. Reads statistics again for each square: registers are scarce.
void QueryGradientEmitter::differentiate(const Registers& scores, const Registers& weightGradients, Value* firstRow,
                                         Value* firstColumn) {
  for (unsigned i = 0; i < tiles.numRows(); ++i) {
    Value* row = b.CreateAdd(firstRow, tiles.rowInSquare(i));
    RowStatistics statistics = loadStatistics(row);
    for (unsigned j = 0; j < AttentionTiles::kColumns; ++j) {
      Value* column = b.CreateAdd(firstColumn, tiles.columnInSquare(j));
      Value* own = weight(tiles.read(scores[i][j]), row, column, statistics);
      b.CreateStore(scoreGradient(own, tiles.read(weightGradients[i][j]), row, column, statistics), scores[i][j]);
    }
  }
}

/// Rows of the square are keys, its columns queries.
class KeyGradientEmitter : public GradientEmitter {
 public:
  using GradientEmitter::GradientEmitter;

 private:
  void emitBlock() override;
  /// Adds what the queries of the present batch index give.
  void addQueries(Value* firstColumn);
  void addSquare(Value* firstColumn, Value* firstRow);
  /// `body` at each score, with its number in registers, its row and its column.
  void forEachScore(Value* firstColumn, Value* firstRow,
                    llvm::function_ref<void(unsigned, unsigned, Value*, Value*)> body);

  Registers scores, weightGradients, keyAccumulators, valueAccumulators;
};

void KeyGradientEmitter::emitBlock() {
  auto gradient = cast<fusion::AttentionKeyGradientOp>(op.getOperation());
  int64_t squares = llvm::divideCeil(sizes[Form::kColumn], kSquare), groups = 1;
  Value* firstColumn = b.CreateMul(splitBlock(squares, batchLabels(/*ofKey=*/true)), number(kSquare));
  scores = tiles.makeSquare(), weightGradients = tiles.makeSquare();
  keyAccumulators = tiles.makeAccumulators(sizes[Form::kDepth]),
  valueAccumulators = tiles.makeAccumulators(sizes[Form::kValueDepth]);
  tiles.clear(keyAccumulators);
  tiles.clear(valueAccumulators);
  SmallVector<int64_t> others = batchLabels(/*ofKey=*/false);
  for (int64_t label : others) groups *= sizes[label];
  if (groups == 1) {
    setDigits(others, number(0));
    addQueries(firstColumn);
  } else {
    block.count(number(0), number(groups), number(1), [&](Value* group) {
      setDigits(others, group);
      addQueries(firstColumn);
    });
  }
  MatrixView keys = operandView(entry.results[0], gradient.getKeyGradient(), gradient.getKeyGradientLabels(),
                                Form::kColumn, Form::kDepth);
  MatrixView values = operandView(entry.results[1], gradient.getValueGradient(), gradient.getValueGradientLabels(),
                                  Form::kColumn, Form::kValueDepth);
  tiles.store(keyAccumulators, keys, firstColumn, {});
  tiles.store(valueAccumulators, values, firstColumn, {});
}

void KeyGradientEmitter::addQueries(Value* firstColumn) {
  Value* begin = number(0);
  if (op.getDiagonal()) {
    // Earlier rows do not see these columns.
    Value* row = b.CreateSub(firstColumn, number(static_cast<int64_t>(*op.getDiagonal())));
    Value* square = b.CreateAnd(row, number(-kSquare));
    begin = b.CreateSelect(b.CreateICmpSGT(row, begin), square, begin);
  }
  forEachSquare(begin, number(sizes[Form::kRow]), [&](Value* firstRow) { addSquare(firstColumn, firstRow); });
}

void KeyGradientEmitter::forEachScore(Value* firstColumn, Value* firstRow,
                                      llvm::function_ref<void(unsigned, unsigned, Value*, Value*)> body) {
  for (unsigned j = 0; j < AttentionTiles::kColumns; ++j)
    for (unsigned i = 0; i < tiles.numRows(); ++i)
      body(i, j, b.CreateAdd(firstRow, tiles.columnInSquare(j)), b.CreateAdd(firstColumn, tiles.rowInSquare(i)));
}

void KeyGradientEmitter::addSquare(Value* firstColumn, Value* firstRow) {
  MatrixView queries = query(), outGradients = outGradient();
  SmallVector<RowStatistics> statistics;  // by column of the thread
  tiles.multiply(scores, key(), firstColumn, queries, firstRow);
  for (unsigned j = 0; j < AttentionTiles::kColumns; ++j)
    statistics.push_back(loadStatistics(b.CreateAdd(firstRow, tiles.columnInSquare(j))));
  forEachScore(firstColumn, firstRow, [&](unsigned i, unsigned j, Value* row, Value* column) {
    b.CreateStore(weight(tiles.read(scores[i][j]), row, column, statistics[j]), scores[i][j]);
  });
  tiles.accumulate(valueAccumulators, scores, outGradients, firstRow);
  tiles.multiply(weightGradients, value(), firstColumn, outGradients, firstRow);
  forEachScore(firstColumn, firstRow, [&](unsigned i, unsigned j, Value* row, Value* column) {
    Value* own = tiles.read(scores[i][j]);
    b.CreateStore(scoreGradient(own, tiles.read(weightGradients[i][j]), row, column, statistics[j]), scores[i][j]);
  });
  tiles.accumulate(keyAccumulators, scores, queries, firstRow);
}

}  // namespace

void mlir::sgd::gpu::emitQueryGradient(llvm::Module& module, fusion::AttentionOpInterface op,
                                       const KernelRequest& request) {
  QueryGradientEmitter(module, op, request).run();
}

void mlir::sgd::gpu::emitKeyGradient(llvm::Module& module, fusion::AttentionOpInterface op,
                                     const KernelRequest& request) {
  KeyGradientEmitter(module, op, request).run();
}
