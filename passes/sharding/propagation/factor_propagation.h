// One propagation step over one op: which axes each factor can take from some tensors and give to
// others. Plain C++ on projections.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_FACTOR_PROPAGATION_H
#define SGD_PASSES_SHARDING_PROPAGATION_FACTOR_PROPAGATION_H

#include "passes/sharding/propagation/projection.h"

namespace mlir::sgd {

/// The direction in which a factor may spread axes: from operands (forward), from results (backward), or both.
enum class Direction : uint8_t { None, Forward, Backward, Both };

/// How conflicts between tensors are handled. Basic: an axis spreads only where no tensor of the op
/// objects (by another axis of the same dimension, by using it elsewhere, by a closed dimension).
/// Aggressive: each tensor takes every axis that it can; among factors that want one axis, the factor whose
/// source tensor is largest comes first.
enum class ConflictMode : uint8_t { Basic, Aggressive };

/// An op as propagation sees it. Tensors are operands, then results.
struct OpFactors {
  llvm::ArrayRef<int64_t> sizes;         // by factor
  llvm::ArrayRef<Direction> directions;  // by factor
  llvm::MutableArrayRef<TensorFactors> tensors;
  unsigned numOperands;
  bool isElementwise;
};

/// The axes that factor `index` has in every tensor that has it, up to the first disagreement;
/// where one tensor only has more than another, the longer list. `direction` says which tensors may
/// make the list longer.
AxisParts compatibleMajorAxes(const OpFactors& op, unsigned index, Direction direction);

/// Spreads axes between the tensors of `op` and returns true when a factor of some tensor received
/// axes. Only open factors receive; axes must divide the factor in tensors where it is not the
/// minor-most of its dimension (there a tile of the dimension could not be padded).
bool propagateFactors(const OpFactors& op, ConflictMode mode);

/// True when every factor has equal axes in all tensors that have it and nothing overflows: nothing
/// is left to propagate.
bool isSettled(const OpFactors& op);

}  // namespace mlir::sgd

#endif
