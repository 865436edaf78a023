// Where in the user's program an op comes from, for explanations.
#ifndef SGD_PASSES_PARTITION_SOURCE_LINE_H
#define SGD_PASSES_PARTITION_SOURCE_LINE_H

#include <string>

#include "mlir/IR/Operation.h"
#include "passes/partition/explanation.h"

namespace mlir::sgd {

/// The innermost file, line and column of `location`, or nothing.
std::string getSourceLine(Location location);

/// Why a local rule of `op` communicates: the op and its location.
Explanation explainMovement(Operation* op);

}  // namespace mlir::sgd

#endif
