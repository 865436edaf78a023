// Propagation of shardings through one function to a fixed point, over a map keyed by value: the IR
// is only read.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PROPAGATION_H
#define SGD_PASSES_SHARDING_PROPAGATION_PROPAGATION_H

#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// The sharding of every ranked tensor of a function.
struct ShardingMap {
  struct Entry {
    TensorAxes axes;
    ReduceKind unreducedKind = ReduceKind::Add;
  };
  DenseMap<Value, unsigned> indices;
  SmallVector<Entry, 0> entries;
  /// By function result: the entry of an annotated one, nullopt for one that is as its value is.
  SmallVector<std::optional<unsigned>> functionResults;

  Entry& operator[](Value value) { return entries[indices.lookup(value)]; }
  const Entry& operator[](Value value) const { return entries[indices.lookup(value)]; }
};

/// An op and its rule, in the order of the function; what is in the regions of loops and branches follows these, each
/// region with its yield at the end. Loops, branches and yields have empty rules: their tensors are joined one by one.
struct RuledOp {
  Operation* op;
  ShardingRule rule;
};

/// Asks every op of `function` but its return for its rule; an op without one, or a function of
/// several blocks, is an error on it.
FailureOr<SmallVector<RuledOp, 0>> collectRules(func::FuncOp function);

/// Propagates from the annotations of arguments, results and sharding constraints: by user
/// priority, then by kind of op, then from basic to aggressive conflict handling. Axes need not divide
/// the dimensions they shard.
FailureOr<ShardingMap> propagateShardings(func::FuncOp function, ArrayRef<RuledOp> ops, const MeshAxes& mesh);

}  // namespace mlir::sgd

#endif
