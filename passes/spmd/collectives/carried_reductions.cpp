// A chain is a reduction followed by linear ops with one use each; two chains that meet in a sum, several that are
// concatenated and then sharded, or one that ends in a smaller value, are rebuilt on the partial value with the
// reduction behind.
#include "passes/spmd/collectives/carried_reductions.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/IRMapping.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/reduction_chain.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Carrier {
 public:
  Carrier(const MeshAxes& mesh, ReshardCosts& costs) : mesh(mesh), costs(costs) {}

  void visit(Operation* op);
  CarriedReductions counts;

 private:
  bool merge(Operation* op);
  bool shrink(Operation* op);
  bool join(ConcatenateOp op);
  void finish(Operation* op, Value partial);

  const MeshAxes& mesh;
  ReshardCosts& costs;
};
}  // namespace

/// Replaces `op`'s result by a reduction of `partial` and removes the ops that are unused then.
void Carrier::finish(Operation* op, Value partial) {
  OpBuilder builder(op);
  Value reduced = partial;
  if (partial.getType() != op->getResult(0).getType())
    reduced = ReshardOp::create(builder, op->getLoc(), op->getResult(0).getType(), partial);
  op->getResult(0).replaceAllUsesWith(reduced);
  eraseUnused(op);
}

/// A sum of two chains that are partial in the same way.
bool Carrier::merge(Operation* op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getOperand(0) == op->getOperand(1)) return false;
  std::optional<ReductionChain> lhs = traceReduction(op->getOperand(0), mesh);
  if (!lhs || !joinsPartials(op, lhs->partial.getUnreducedKind())) return false;
  std::optional<ReductionChain> rhs = traceReduction(op->getOperand(1), mesh);
  if (!rhs || lhs->partial != rhs->partial) return false;
  RankedTensorType type = tensorType(op->getResult(0));
  auto before = costs.get(tensorType(lhs->reduction.getInput()), tensorType(lhs->reduction));
  auto second = costs.get(tensorType(rhs->reduction.getInput()), tensorType(rhs->reduction));
  auto after = costs.get(withSharding(type, lhs->partial), type);
  if (!before || !second || !after) return false;
  *before += *second;
  if (!(*after < *before)) return false;
  OpBuilder builder(op);
  Value left = rebuildOnPartial(*lhs), right = rebuildOnPartial(*rhs);
  IRMapping mapping;
  mapping.map(op->getOperand(0), left);
  mapping.map(op->getOperand(1), right);
  Operation* sum = builder.clone(*op, mapping);
  sum->getResult(0).setType(left.getType());
  finish(op, sum->getResult(0));
  return true;
}

/// A chain whose end is smaller than its beginning.
bool Carrier::shrink(Operation* op) {
  if (op->getNumResults() != 1 || op->getNumOperands() != 1 || op->getNumRegions() != 0) return false;
  RankedTensorType type = tensorType(op->getResult(0));
  if (getByteSize(type) >= getByteSize(tensorType(op->getOperand(0)))) return false;
  std::optional<ReductionChain> chain = traceReduction(op->getOperand(0), mesh);
  std::optional<ChainLink> link = chain ? getChainLink(op, 0, chain->partial, mesh) : std::nullopt;
  if (!link) return false;
  auto before = costs.get(tensorType(chain->reduction.getInput()), tensorType(chain->reduction));
  auto after = costs.get(withSharding(type, link->shardings.result), type);
  if (!before || !after || !(*after < *before)) return false;
  finish(op, cloneOnPartial(*link, rebuildOnPartial(*chain)));
  return true;
}

/// A concatenation of chains that are partial in the same way, and of zeros, of which each rank wants a shard: one
/// reduction straight to the shards, instead of whole values of which each rank takes its own.
bool Carrier::join(ConcatenateOp op) {
  if (!op->hasOneUse()) return false;
  auto reshard = dyn_cast<ReshardOp>(*op->user_begin());
  RankedTensorType type = tensorType(op.getResult());
  if (!reshard || getSharding(type).isPartial() || getSharding(reshard.getType()).isPartial()) return false;
  std::optional<ShardingAttr> partial;
  SmallVector<std::optional<ReductionChain>, 1> chains;
  std::optional<ReshardCost> before = costs.get(type, reshard.getType());
  for (Value input : op.getInputs()) {
    std::optional<ReductionChain>& chain = chains.emplace_back(traceReduction(input, mesh));
    if (!chain) continue;
    std::optional<ReshardCost> own =
        costs.get(tensorType(chain->reduction.getInput()), tensorType(chain->reduction.getResult()));
    if (!before || !own || (partial && *partial != chain->partial)) return false;
    *before += *own;
    partial = chain->partial;
  }
  if (!partial) return false;
  for (auto [input, chain] : llvm::zip(op.getInputs(), chains))
    if (!chain && !(input.hasOneUse() && isNeutralConstant(input, partial->getUnreducedKind()))) return false;
  std::optional<OpShardings> shardings = shardLike(op, 0, *partial, mesh);
  if (!shardings) return false;
  RankedTensorType joined = withSharding(type, shardings->result);
  std::optional<ReshardCost> after = costs.get(joined, reshard.getType());
  if (!after || !(*after < *before)) return false;
  OpBuilder builder(op);
  SmallVector<Value> inputs;
  for (auto [input, chain] : llvm::zip(op.getInputs(), chains)) {
    if (!chain) retypeFreeValue(input, *partial);
    inputs.push_back(chain ? rebuildOnPartial(*chain) : Value(input));
  }
  Value sum = ConcatenateOp::create(builder, op.getLoc(), joined, inputs, op.getDimension());
  builder.setInsertionPoint(reshard);
  reshard.getInputMutable().assign(sum);
  eraseUnused(op);
  return true;
}

void Carrier::visit(Operation* op) {
  auto concatenate = dyn_cast<ConcatenateOp>(op);
  if (merge(op) || (concatenate && join(concatenate)))
    ++counts.numMerged;
  else if (shrink(op))
    ++counts.numMoved;
}

CarriedReductions mlir::sgd::carryReductions(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs) {
  Carrier carrier(mesh, costs);
  for (Block* block : getProgramBlocks(function))
    for (Operation& op : llvm::make_early_inc_range(*block)) carrier.visit(&op);
  return carrier.counts;
}
