// The bytes that a program sends beyond its lower bound, and why: the explanations of its collectives beside the
// bound's terms.
#ifndef SGD_COMPILER_BOUND_GAPS_H
#define SGD_COMPILER_BOUND_GAPS_H

#include "compiler/bound/lower_bound.h"

namespace mlir::sgd {

/// A step of a collective that no term of the bound accounts for as a whole.
struct BoundGap {
  std::string reason;  ///< as --explain prints it: tensor, op and location, from, to, step
  uint64_t bytes = 0;  ///< sent beyond the terms that it belongs to, in all runs of the step
};

/// The largest first, from a plan-level function with all that it runs. A term belongs to the steps that reduce at its
/// location, else to those that move tensors of its type.
std::vector<BoundGap> findGaps(func::FuncOp function, const LowerBound& bound);

}  // namespace mlir::sgd

#endif
