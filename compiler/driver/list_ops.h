// The ops that a frontend imports, for users.
#ifndef SGD_COMPILER_DRIVER_LIST_OPS_H
#define SGD_COMPILER_DRIVER_LIST_OPS_H

#include <string>
#include <vector>

#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// Returns the names of the ops that a frontend imports, sorted. `name` is that of its format, "StableHLO" or
/// "PyTorch", or a part of it in any case, "torch". Fails with a message that names the frontends.
llvm::Expected<std::vector<std::string>> listInputOps(llvm::StringRef name);

}  // namespace mlir::sgd

#endif
