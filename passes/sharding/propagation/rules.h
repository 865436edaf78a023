// External models that give ops their sharding rules, one file per op family.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_RULES_H
#define SGD_PASSES_SHARDING_PROPAGATION_RULES_H

#include "dialects/sgd/sharding_rule.h"

namespace mlir::sgd {

/// Elementwise ops of arith, math and sgd, constants, and ops that are the identity on values.
void registerElementwiseRules(DialectRegistry& registry);

/// Ops that move elements: broadcast, transpose, reshape, slice, pad, concatenate, reverse, iota,
/// dynamic slices.
void registerIndexRules(DialectRegistry& registry);

/// reduce, cumulative, dot_general and convolution.
void registerContractionRules(DialectRegistry& registry);

/// gather and scatter.
void registerGatherRules(DialectRegistry& registry);

/// Adds the factor of an operand's dimension of `size` of which run-time indices select elements for a result of type
/// `result`: sharded, each rank contributes those that it holds, and the sum (of booleans the disjunction) is the
/// result.
unsigned addSelection(ShardingRule& rule, int64_t size, RankedTensorType result);

/// sort and top_k.
void registerOrderRules(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
