// Programs of the SPMD level as StableHLO: the way back from importStablehlo, behind partitioning.
#ifndef SGD_FRONTENDS_STABLEHLO_EXPORT_EXPORT_H
#define SGD_FRONTENDS_STABLEHLO_EXPORT_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// `program`, a module at the SPMD level, in ops of `stablehlo` and `chlo`: what one of `mhlo.num_partitions`
/// partitions computes on its shards, as XLA would run it behind its own partitioner. Ranks are partitions, and groups
/// of collectives are lists of them. A program of one function has it as `main`. Integers that are unsigned for the
/// user are so in arguments and results. An op without a counterpart is a `custom_call` with the op's name as its
/// target and the op's attributes as its `backend_config`. Locations hold the user's names and files, and nothing of
/// the compiler. The dialects have been loaded. Null after an error.
OwningOpRef<ModuleOp> exportStablehlo(ModuleOp program);

}  // namespace mlir::sgd

#endif
