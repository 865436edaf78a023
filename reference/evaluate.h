// The reference evaluator: runs a function of the graph or SPMD level op by op, for all ranks in one process. Slow and
// plain: what it computes is what the ops mean, to hold passes and generated code against.
#ifndef SGD_REFERENCE_EVALUATE_H
#define SGD_REFERENCE_EVALUATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/collectives.h"

namespace mlir::sgd::reference {

/// Results of `function`, a single block, on `arguments`: one entry per argument, each with one tensor for each of
/// `ranks` ranks. At the graph level types are global, and one rank stands for all; at the SPMD level `ranks` is the
/// size of the mesh. Floats are computed in double precision and rounded to the element type after each op. Fails with
/// a diagnostic at an op that the evaluator does not know.
FailureOr<std::vector<RankTensors>> evaluate(func::FuncOp function, std::vector<RankTensors> arguments, int64_t ranks);

/// The same for a block of ops on one rank: a cluster's body.
FailureOr<std::vector<Tensor>> evaluate(Block& block, ArrayRef<Tensor> arguments);

/// A global tensor cut to the shards of all ranks, and back. Dimensions that do not divide are padded with zero at the
/// end; `join` takes each element from the first rank that holds it.
RankTensors cut(const Tensor& global, ShardingAttr sharding, MeshAttr mesh);
Tensor join(const RankTensors& shards, RankedTensorType global, ShardingAttr sharding, MeshAttr mesh);

}  // namespace mlir::sgd::reference

#endif
