// Writes shardings into types and makes every change of sharding explicit.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_MATERIALIZE_H
#define SGD_PASSES_SHARDING_PROPAGATION_MATERIALIZE_H

#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

/// After it every tensor of `function` has its sharding as the encoding of its type; each op but
/// sgd.reshard fits one assignment of axes to its factors, chosen by cost; results over sharded
/// reduction factors are partial and resharded at once; sharding constraints are gone. Arguments
/// and results carry their final shardings as attributes too.
void materializeShardings(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map, const MeshAxes& mesh);

}  // namespace mlir::sgd

#endif
