// The reference evaluator: runs a function of the graph or SPMD level op by op, for all ranks in one process. Slow and
// plain: what it computes is what the ops mean, to hold passes and generated code against.
#ifndef SGD_REFERENCE_EVALUATE_H
#define SGD_REFERENCE_EVALUATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/collectives.h"

namespace mlir::sgd::reference {

/// Sees, and may change, what goes into and comes out of each op that an evaluation computes.
class EvaluationObserver {
 public:
  virtual ~EvaluationObserver() = default;
  /// `operands` are copies, made for ops for which `wantsOperands` is true; the op is computed from them.
  virtual bool wantsOperands(Operation* op) { return false; }
  virtual void beforeOp(Operation* op, std::vector<RankTensors>& operands) {}
  virtual void afterOp(Operation* op, std::vector<RankTensors>& results) {}
  /// A send, or a receive, whose results it fills. An error where the other end is in no function that is evaluated.
  virtual LogicalResult exchange(Operation* op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out);
};

/// Results of `function`, a single block, on `arguments`: one entry per argument, each with one tensor for each of
/// `ranks` ranks. At the graph level types are global, and one rank stands for all; at the SPMD level `ranks` is the
/// size of the mesh. Floats are computed in double precision and rounded to the element type after each op. Fails with
/// a diagnostic at an op that the evaluator does not know.
FailureOr<std::vector<RankTensors>> evaluate(func::FuncOp function, std::vector<RankTensors> arguments, int64_t ranks,
                                             EvaluationObserver* observer = nullptr);

/// The same for a block of ops on one rank: a cluster's body.
FailureOr<std::vector<Tensor>> evaluate(Block& block, ArrayRef<Tensor> arguments);

/// Contents of the padding of shards of dimensions that do not divide: at the end of the last ones.
enum class Padding {
  Zero,
  Poison,  // NaN; a large odd number of integers: no op may let it through to an element
};

/// How ranks hold an argument or result: its sharding, null where each has the whole, and `sgd.blocks` (may be null),
/// of each dimension the blocks of which a rank has a tile, or `sgd.rows` (may be null), those of dimension 0.
struct ShardLayout {
  ShardingAttr sharding;
  DenseI64ArrayAttr blocks, rows;
  RankedTensorType local;  // what a rank has; null: tiles are as small as they can be

  ShardLayout(ShardingAttr sharding, DenseI64ArrayAttr blocks = {}) : sharding(sharding), blocks(blocks) {}
  /// Of a function's argument or result, by its attributes (may be null) and the type that a rank has.
  ShardLayout(DictionaryAttr attributes, Type local);

  int64_t getBlocks(unsigned dim) const { return blocks ? blocks[dim] : 1; }
};

/// A global tensor cut to the shards of all ranks, and back. `join` takes each element from the first rank that holds
/// it.
RankTensors cut(const Tensor& global, ShardLayout layout, MeshAttr mesh, Padding padding = Padding::Zero);
Tensor join(const RankTensors& shards, RankedTensorType global, ShardLayout layout, MeshAttr mesh);
/// What `join` does, to the elements of `global` that ranks hold.
void put(const RankTensors& shards, Tensor& global, ShardLayout layout, MeshAttr mesh);

}  // namespace mlir::sgd::reference

#endif
