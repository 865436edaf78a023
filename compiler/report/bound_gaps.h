// The bytes that a program sends beyond its lower bound, and why: the explanations of its collectives beside the
// bound's terms.
#ifndef SGD_COMPILER_BOUND_GAPS_H
#define SGD_COMPILER_BOUND_GAPS_H

#include <cstdint>
#include <vector>

#include "compiler/bound/lower_bound.h"

namespace mlir::sgd {

/// A step of a collective that no term of the bound accounts for as a whole.
struct BoundGap {
  std::string reason;  ///< as --explain prints it: tensor, op and location, from, to, step
  uint64_t bytes = 0;  ///< sent beyond the terms that it belongs to, in all runs of the step
};

/// A step of a movement that a collective is for.
struct BoundStep {
  uint64_t collective = 0;  ///< which of the function and all that it runs, from 0
  size_t decision = 0;      ///< which of the collective's
  std::string reason;       ///< as in BoundGap
  uint64_t bytes = 0;       ///< sent in all runs of the step
  uint64_t needed = 0;      ///< by terms of the bound
};

/// Each step that sends something, in program order, from a plan-level function with all that it runs. A term belongs
/// to the steps that reduce at its location, else to those that move tensors of its type, the largest first.
std::vector<BoundStep> matchBound(func::FuncOp function, const LowerBound& bound);

/// The largest first, from a plan-level function with all that it runs: what steps send beyond the terms that
/// belong to them (matchBound).
std::vector<BoundGap> findGaps(func::FuncOp function, const LowerBound& bound);

}  // namespace mlir::sgd

#endif
