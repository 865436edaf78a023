// Updates that read whole matrices, as Muon's do: which rank computes which matrix.
//
// Matrices of equal size share a stack, tensor<slots x elements>, whose dimension 0 is sharded over the ranks. A rank
// holds its matrices' momentum, receives their gradients whole by one reduce-scatter, and orthogonalizes them alone.
// Sharded parameters are stacks too: all ranks gather them from their owners. No byte is sent that elementwise updates
// of shards would not send. Where matrices are fewer than ranks, several ranks own one together: each holds some of its
// rows, and gathers the others' direction before it orthogonalizes the matrix.
#ifndef SGD_PASSES_GRAPH_TRAINING_MATRIX_STACKS_H
#define SGD_PASSES_GRAPH_TRAINING_MATRIX_STACKS_H

#include "llvm/ADT/SmallVector.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

/// A matrix that could share a stack. Those of one `kind` are updated alike.
struct StackableMatrix {
  int64_t rows = 0, columns = 0;
  unsigned kind = 0;
};

/// Positions of matrices that share a stack, in ascending order; slots behind them are empty.
struct MatrixStack {
  llvm::SmallVector<unsigned> matrices;
  int64_t slots = 0;   // a multiple of the owners
  int64_t owners = 0;  // the ranks, or groups of as many ranks each
};

/// Returns stacks of matrices of one kind that are equal or each other's transposes. A matrix that no stack has is of a
/// size that no other has.
///
/// A stack has as many matrices of a rank as 4 MiB hold, so that few gradients wait for each other. The last matrices
/// of a size have owners of several ranks, or a stack with empty slots, which are sent like full ones: what sends less.
llvm::SmallVector<MatrixStack> stackMatrices(llvm::ArrayRef<StackableMatrix> matrices, const MatrixRanks& ranks);

/// `axes` as two lists: ranks that differ on the first one own different matrices, of `owners`; those that differ on
/// the second one alone own a matrix together. Nothing where the axes' sizes do not allow it.
std::optional<std::pair<AxisParts, AxisParts>> splitOwners(llvm::ArrayRef<AxisPart> axes, int64_t owners);

}  // namespace mlir::sgd

#endif
