// Sharding rules: how the dimensions of an op's operands and results belong together, and the
// interface that gives an op's rule.
#ifndef SGD_DIALECTS_SGD_SHARDING_RULE_H
#define SGD_DIALECTS_SGD_SHARDING_RULE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The behaviour of an op along a factor.
enum class FactorKind : uint8_t {
  PassThrough,      // each shard is computed from the same shards: may be sharded freely
  Reduction,        // in operands only: sharded operands give partial results
  NeedReplication,  // must be whole on every rank
  Permutation,      // shards need parts of others: its dimensions, of which a factor's size is the
                    // largest, may differ in size; the op's local rule exchanges what is needed
};

/// The value that padding of an unevenly sharded operand must hold if the op combines its elements.
enum class PaddingFill : uint8_t {
  Neutral,   // the neutral element of the factor's reduction
  AllOnes,   // -1: an index that lies nowhere
  Anything,  // the op or its local rule does not read it
};

struct Factor {
  int64_t size;
  FactorKind kind = FactorKind::PassThrough;
  ReduceKind reduceKind = ReduceKind::Add;  // of a Reduction

  bool canBeSharded() const { return kind != FactorKind::NeedReplication; }
};

/// Per dimension of a tensor, the factors it is made of, major to minor. Dimensions of size 1
/// usually have none.
using TensorMapping = SmallVector<SmallVector<unsigned, 1>, 4>;

/// An op's rule. Operands that are not ranked tensors have an empty mapping.
struct ShardingRule {
  SmallVector<Factor, 4> factors;
  SmallVector<TensorMapping, 3> operands;
  SmallVector<TensorMapping, 1> results;
  /// All tensors have the same dimensions and each element depends on the same element of the
  /// operands.
  bool isElementwise = false;
  /// An operand that is combined into the result, once: partial wherever the result is (a scatter's
  /// operand).
  std::optional<unsigned> accumulator;
  /// Tiles of a dimension of several factors need not be made of tiles of these: the op's local rule
  /// exchanges what is needed (a reshape).
  bool exchangesTiles = false;
  /// By operand, Neutral where missing: what padding along an unevenly sharded Reduction factor must hold.
  SmallVector<PaddingFill, 3> padding;

  /// The rule of ops whose tensors all have `shape` (tensors of other ranks, such as scalars, have
  /// no factors).
  static ShardingRule elementwise(Operation* op);

  /// A rule without factors in which every tensor of `op` has its dimensions unmapped.
  static ShardingRule empty(Operation* op);

  /// Adds a factor and returns its index.
  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::PassThrough, ReduceKind reduceKind = ReduceKind::Add);

  /// Makes a dimension of an operand or result consist of one more factor, minor to those it has.
  void mapOperand(unsigned operand, int64_t dim, unsigned factor) { operands[operand][dim].push_back(factor); }
  void mapResult(int64_t dim, unsigned factor, unsigned result = 0) { results[result][dim].push_back(factor); }

  PaddingFill getPadding(unsigned operand) const {
    return operand < padding.size() ? padding[operand] : PaddingFill::Neutral;
  }

  SmallVector<int64_t> factorSizes() const;
};

}  // namespace mlir::sgd

#include "dialects/sgd/sharding_rule.h.inc"

namespace mlir::sgd {

/// Whether `op` computes each element of its result from the same element of operands, of which it has any.
bool isElementwise(Operation* op);

}  // namespace mlir::sgd

#endif
