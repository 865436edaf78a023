// Where in the user's program an op comes from.
#ifndef SGD_DIALECTS_SGD_SOURCE_LINE_H
#define SGD_DIALECTS_SGD_SOURCE_LINE_H

#include <string>

#include "mlir/IR/Location.h"

namespace mlir::sgd {

/// `file:line:col` of the innermost file in `location`: of a call the callee's, of a fused location the first. Empty
/// when there is none. Line 0 stands for a whole file: then it is the file alone.
std::string getSourceLine(Location location);

}  // namespace mlir::sgd

#endif
