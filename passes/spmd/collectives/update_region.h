// The update of state by a reduced gradient: what is computed from the reduction, one element from one, up to results
// of the function, and what of its shards each rank can compute alone.
//
//   g  = reshard(partial)     all-reduce                     g  = reshard(partial)      reduce-scatter
//   m' = 0.9 * m + g          m', p' whole on every rank     m' = 0.9 * m + g           shards; m and m' are state
//   p' = p - 0.1 * m'                                        p' = gather(slice(p) - 0.1 * m')
//   return p', m'                                            return p', m'
#ifndef SGD_PASSES_SPMD_COLLECTIVES_UPDATE_REGION_H
#define SGD_PASSES_SPMD_COLLECTIVES_UPDATE_REGION_H

#include <string>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "passes/spmd/collectives/retyped_op.h"

namespace mlir::sgd {

/// An argument of the function that is a result of the last step, and is only read where its shard is enough.
struct ShardedState {
  BlockArgument argument;
  unsigned result = 0;
  ShardingAttr sharding;
};

/// Reductions, and the ops between them and the function's results, each with shardings in which every rank computes
/// a shard.
struct UpdateRegion {
  SetVector<Operation*> reductions;              // ReshardOps of partial values, now straight to shards
  llvm::MapVector<Operation*, OpShardings> ops;  // all others; those with a partial result are reduced after it
  llvm::MapVector<Value, ShardingAttr> values;   // what has shards now: results of both, but not partial ones
  llvm::SmallVector<OpOperand*> returned;        // uses of `values` by the function's return
  llvm::SmallVector<ShardedState> state;         // of which arguments and results keep shards between steps
  std::string problem;                           // why there is none, or nothing

  bool isState(OpOperand* returned) const;
};

/// The values of a function's block that ops on elements turn into its results.
class ResultLeads {
 public:
  explicit ResultLeads(func::FuncOp function);
  bool leadsToResult(Value value) const { return toResults.contains(value); }
  /// To one that is carried to the next step.
  bool leadsToState(Value value) const { return toState.contains(value); }

 private:
  llvm::DenseSet<Value> toResults, toState;
};

/// The region of `reduction`, a reshard in the function's own block that only reduces, with its result in `sharding`.
/// Arguments in `pinned` keep their shardings. A region with a problem is not to be applied; if it updates state, its
/// `returned` has all results that it leads to. Any other is left at its first problem: an activation is read by the
/// elementwise ops of all later layers.
UpdateRegion findUpdateRegion(ReshardOp reduction, ShardingAttr sharding, const MeshAxes& mesh,
                              const llvm::SmallPtrSetImpl<void*>& pinned, const ResultLeads& leads);

/// Gives everything in `region` its shardings: slices of what others read whole, gathers before the return. The type
/// and attributes of `function` follow by applySignature.
void applyUpdateRegion(func::FuncOp function, const UpdateRegion& region);

/// Gives `function` the types of its arguments and returned values after applyUpdateRegion, and the shardings of
/// `state`. Once for all regions: each change makes new lists of all arguments and results.
void applySignature(func::FuncOp function, ArrayRef<ShardedState> state);

}  // namespace mlir::sgd

#endif
