// The choice of one factor assignment for an op whose tensors disagree, by the bytes that would
// have to move. Plain C++ on axis parts.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_ASSIGNMENT_H
#define SGD_PASSES_SHARDING_PROPAGATION_ASSIGNMENT_H

#include "passes/sharding/propagation/projection.h"

namespace mlir::sgd {

/// One operand or result of the op: how it is sharded (operands) or wanted (results), and how its
/// dimensions map to factors.
struct AssignedTensor {
  const TensorAxes* axes;
  DimFactors mapping;
  int64_t bytes;  // of the whole tensor
  bool isResult;
  bool isFree = false;  // can be made in any sharding (constants)
};

/// An op for which an assignment is chosen.
struct AssignmentProblem {
  llvm::ArrayRef<int64_t> sizes;      // by factor
  llvm::ArrayRef<bool> canBeSharded;  // by factor
  llvm::ArrayRef<bool> isReduction;   // by factor: its axes become unreduced axes of the results
  llvm::ArrayRef<AssignedTensor> tensors;
  Tiling tiling = Tiling::Nested;
};

/// Axes of each factor.
using Assignment = llvm::SmallVector<AxisParts>;

/// Bytes that the busiest rank receives when a tensor of `bytes` goes from one sharding to another
/// (ring algorithms; what both sides hold of each other is not sent). Unreduced axes of `from` that
/// `to` does not have are reduced.
double reshardBytes(const TensorAxes& from, const TensorAxes& to, int64_t bytes);

/// The tensor's sharding under `assignment`; for results with the axes of reduction factors as
/// unreduced.
TensorAxes assignedAxes(const AssignmentProblem& problem, const AssignedTensor& tensor, const Assignment& assignment);

/// The axes of reduction factors: those over which the op's results are partial.
AxisParts unreducedAxes(const AssignmentProblem& problem, const Assignment& assignment);

/// The cost of computing `elements`, in bytes that could be received meanwhile.
double getComputeCost(double elements);

/// Bytes that move when the op is computed under `assignment`, plus what its elements take to compute in
/// the same unit.
double getCost(const AssignmentProblem& problem, const Assignment& assignment);

/// The assignment in which `leader` keeps its sharding and, unless `alone`, the others add what fits.
Assignment followTensor(const AssignmentProblem& problem, unsigned leader, bool alone);

/// The same with axes of a factor that must be whole on another factor of that tensor instead, in each way that is
/// possible: the op's work stays divided.
llvm::SmallVector<Assignment> followTensorMoved(const AssignmentProblem& problem, unsigned leader);

/// The cheapest assignment among those led by each pair of tensors. When all tensors agree it is
/// theirs.
Assignment chooseAssignment(const AssignmentProblem& problem);

}  // namespace mlir::sgd

#endif
