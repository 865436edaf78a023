// Properties of single ops for clustering: which can be in a kernel, which cost nothing to compute again, and
// how a reduction or broadcast maps to the tensor it runs over.
#ifndef SGD_PASSES_KERNELS_CLUSTERS_CLUSTER_RULES_H
#define SGD_PASSES_KERNELS_CLUSTERS_CLUSTER_RULES_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

enum class ClusterRole {
  Outside,    // library calls, collectives, large constants, what has effects
  Free,       // constants, index maps and views: a copy in each cluster that reads it
  Pointwise,  // one result element from elements at computed places
  Reduce,
  Scatter,
  Update,  // written over what it updates: only the update is computed, always stored
};

ClusterRole getClusterRole(Operation* op);

/// Keeps the row-major number of each element: an elementwise op, a reshape, a broadcast that only adds dimensions of
/// size 1.
bool keepsIndex(Operation* op);

/// Costs much more than reading its operands.
bool isExpensive(Operation* op);

/// A full tensor as runs of dimensions in row-major order, without those of size 1: kept ones, and reduced (or
/// repeated) ones.
struct RowPattern {
  SmallVector<std::pair<bool, int64_t>, 4> runs;  // is kept, size

  bool operator==(const RowPattern& other) const { return runs == other.runs; }
  int64_t keptElements() const { return product(true); }
  int64_t rowElements() const { return product(false); }
  /// The innermost run is reduced: rows are contiguous.
  bool isContiguous() const { return !runs.empty() && !runs.back().first; }
  void append(bool isKept, int64_t size);

 private:
  int64_t product(bool kept) const;
};

RowPattern getReducePattern(ReduceOp op);

/// The pattern of a broadcast whose operand dimensions stay in order; nullopt for another.
std::optional<RowPattern> getBroadcastPattern(BroadcastInDimOp op);

int64_t getNumElements(Value value);

/// Elements that a kernel computes for the result of `op`: of an update, those of its update.
int64_t getComputedElements(Operation* op);

}  // namespace mlir::sgd

#endif
