// A reduction followed by linear ops with one use each: what could be computed on the summands, with the sum taken
// last.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_REDUCTION_CHAIN_H
#define SGD_PASSES_SPMD_COLLECTIVES_REDUCTION_CHAIN_H

#include "passes/spmd/collectives/retyped_op.h"

namespace mlir::sgd {

/// One op of a chain: which operand is carried, and the shardings when it is partial.
struct ChainLink {
  Operation* op;
  unsigned operand;
  OpShardings shardings;
};

struct ReductionChain {
  ReshardOp reduction;
  SmallVector<ChainLink, 4> links;  // from the reduction to the traced value
  ShardingAttr partial;             // of the traced value when the chain is carried
};

/// `op` on a partial operand of sharding `sharding`, when it is linear in it and its other operands can stay as they
/// are or are constants.
std::optional<ChainLink> getChainLink(Operation* op, unsigned operand, ShardingAttr sharding, const MeshAxes& mesh);

/// Whether the values of a chain may have uses outside of it.
enum class ChainUses { One, Many };

/// Walks up from `value` through linear ops, none of which makes it larger, to a reduction.
std::optional<ReductionChain> traceReduction(Value value, const MeshAxes& mesh, ChainUses uses = ChainUses::One);

/// A copy of the op on the partial value; constants are made in the sharding that it needs.
Value cloneOnPartial(const ChainLink& link, Value partial);

/// The traced value, still partial: clones the links onto the operand of the reduction.
Value rebuildOnPartial(const ReductionChain& chain);

/// Erases `op` if nothing uses it, and then what only it has used.
void eraseUnused(Operation* op);

}  // namespace mlir::sgd

#endif
