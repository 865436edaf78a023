// Batches whose rows are no equal parts over the sequential axis and the ranks, and where their rows are in the values
// of a function. The IR is only read.
//
// Example: 10 rows, "micro" = 4. They are padded to 12, 3 in each part. Of a sequence model with 8 tokens in each row,
// the embeddings tensor<10x8x16xf32> have their rows in dimension 0 and are padded to 12x8x16, and so are the tokens in
// a reshape to tensor<80x16xf32>, to 96x16: rows are major there, so padding is behind all tokens.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_BATCH_ROWS_H
#define SGD_PASSES_TIME_SEQUENTIAL_BATCH_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// A batch of `rows`, which `padded` rows stand for: as many on each rank in each part.
struct PaddedBatch {
  int64_t rows, padded;
  BlockArgument first;  // one of the inputs
};

/// Dimension `dim` of a tensor holds the rows of a batch, each of them as one or more elements.
struct RowsDim {
  unsigned batch = 0;
  unsigned dim = 0;
  bool operator==(const RowsDim&) const = default;
};

class BatchRows {
 public:
  /// Of the inputs of `function` that have `sgd.sequential_dim`, before shardings are propagated over `mesh`. `axis` is
  /// the sequential one.
  BatchRows(func::FuncOp function, const MeshAxes& mesh, MeshAxisAttr axis);

  /// Those whose rows are not as many on each rank in each part.
  ArrayRef<PaddedBatch> getBatches() const { return batches; }
  /// Where `value` has rows of a padded batch. Not of arguments that are whole, nor of constants, which any op makes as
  /// it needs them.
  std::optional<RowsDim> get(Value value) const;

  /// `type`, whose rows are along `rows`, with padding.
  RankedTensorType withPadding(RankedTensorType type, RowsDim rows) const;
  RankedTensorType withoutPadding(RankedTensorType type, RowsDim rows) const;

 private:
  void findBatches(const MeshAxes& mesh);
  void findRows(unsigned batch, FlatSymbolRefAttr mesh);
  void alignWithRanks(const MeshAxes& mesh);
  std::optional<unsigned> getInputDim(unsigned argument, int64_t rows) const;

  func::FuncOp function;
  int64_t parts;
  SmallVector<PaddedBatch, 1> batches;
  DenseMap<Value, RowsDim> rows;
};

}  // namespace mlir::sgd

#endif
