// How much one dot_general or convolution of a sharded program must read and write, as constraints on amounts.
#ifndef SGD_COMPILER_MATMUL_VOLUME_H
#define SGD_COMPILER_MATMUL_VOLUME_H

#include <array>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Operation.h"

namespace mlir::sgd {

/// Operand, operand and result, in this order. In each of `groups` independent matmuls the elements form an m x k, a
/// k x n and an m x n matrix; for a convolution the first is that of all windows, where an element of the lhs occurs up
/// to `repeats` times.
struct MatmulVolume {
  double groups = 1, m = 1, n = 1, k = 1;
  double repeats = 1;          ///< places of the m x k matrix that one element of the lhs fills at most
  double multiplications = 0;  ///< of all groups, without those by the zeros of a convolution's padding
};

/// Bounds logarithms: the sum over the tensors whose bit is in `tensors` (1, 2 and 4 for lhs, rhs and result) is at
/// least `logLeast`.
struct MatmulConstraint {
  unsigned tensors;
  double logLeast;
};

/// Null for anything else.
std::optional<MatmulVolume> getMatmulVolume(Operation* op);

/// How much a rank that does any `multiplications` of the matmul must hold of its tensors. By the inequality of Loomis
/// and Whitney (1949), summed over the groups by that of Cauchy and Schwarz.
llvm::SmallVector<MatmulConstraint, 7> getConstraints(const MatmulVolume& volume, double multiplications);

}  // namespace mlir::sgd

#endif
