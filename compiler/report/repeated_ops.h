// Operations that several ranks compute alike, found after propagation: what no sharding divides.
#ifndef SGD_COMPILER_REPORT_REPEATED_OPS_H
#define SGD_COMPILER_REPORT_REPEATED_OPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Warns, at the op that counts most, if ranks repeat more than 10 % of the operations of a step: names the axes, the
/// first few ops with their source locations, why they are repeated, and how to shard them. `function` is at the
/// sharded level.
void warnOfRepeatedOps(func::FuncOp function);

}  // namespace mlir::sgd

#endif
