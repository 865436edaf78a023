// What an op costs under the shardings of its tensors, and which others it would rather have.
#ifndef SGD_PASSES_SHARDING_CONFLICT_COSTS_H
#define SGD_PASSES_SHARDING_CONFLICT_COSTS_H

#include <unordered_map>

#include "passes/sharding/op_problem.h"

namespace mlir::sgd {

/// Bytes that an op's reshards receive, with what it computes in their unit.
struct OpCost {
  double cost = 0;
  bool isInConflict = false;  // a tensor is exchanged, or a result reduced
  bool isExchanged = false;   // a tensor is
};

/// A sharding for tensor `tensor` of an op, numbered as OpProblem does: the one with which the op is cheapest, or that
/// of tensor `source`.
struct Proposal {
  unsigned tensor;
  std::optional<unsigned> source;
  TensorAxes axes;
};

/// Costs by the shardings in a map that changes; each is computed once per op and shardings of its tensors.
class ConflictCosts {
 public:
  ConflictCosts(ArrayRef<RuledOp> ops, const ShardingMap& map);

  OpCost measure(unsigned op);
  ArrayRef<Proposal> getProposals(unsigned op);
  /// The tensors of `op` that Proposal numbers.
  ArrayRef<Value> getValues(unsigned op) const { return values[op]; }

 private:
  struct Known {
    OpCost cost;
    std::optional<std::vector<Proposal>> proposals;
  };

  void findSums();
  OpProblem describe(unsigned op) const;
  Known& lookUp(unsigned op);
  OpCost compute(unsigned op) const;
  std::vector<Proposal> computeProposals(unsigned op) const;

  ArrayRef<RuledOp> ops;
  const ShardingMap& map;
  SmallVector<SmallVector<Value, 4>, 0> values;  // by op
  DenseMap<Value, double> shares;             // of the cost of one reduction, where several results are added before it
  std::unordered_map<uint64_t, Known> known;  // by hash of the op and its tensors' axes
};

/// Loops, branches and yields: what they join has one sharding already.
bool joinsSlots(Operation* op);

}  // namespace mlir::sgd

#endif
