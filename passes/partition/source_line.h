// Where in the user's program an op comes from, for explanations.
#ifndef SGD_PASSES_PARTITION_SOURCE_LINE_H
#define SGD_PASSES_PARTITION_SOURCE_LINE_H

#include <string>

#include "mlir/IR/Operation.h"

namespace mlir::sgd {

/// The innermost file, line and column of `location`, or nothing.
std::string getSourceLine(Location location);

/// "sgd.slice along a sharded dimension at model.py:3:7": why a local rule of `op` communicates.
std::string getMovementReason(Operation* op);

}  // namespace mlir::sgd

#endif
