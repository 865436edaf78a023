// Passes that give every value its sharding, and the sharding rules of all ops.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PASSES_H
#define SGD_PASSES_SHARDING_PROPAGATION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
namespace sgd {

#define GEN_PASS_DECL
#include "passes/sharding/propagation/passes.h.inc"

// Defines registerShardingPasses(), which registers the passes of this folder by name.
#define GEN_PASS_REGISTRATION
#include "passes/sharding/propagation/passes.h.inc"

/// Attaches the sharding rules of all ops of arith, math and sgd; every context that runs sgd-shard
/// or localises ops needs them.
void registerShardingRules(DialectRegistry& registry);

}  // namespace sgd
}  // namespace mlir

#endif
