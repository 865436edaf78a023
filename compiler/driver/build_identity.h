// Which build of the compiler this process runs. Assumes ELF and a linker that writes build ids, as Linux distributions
// set theirs up.
#ifndef SGD_COMPILER_BUILD_IDENTITY_H
#define SGD_COMPILER_BUILD_IDENTITY_H

#include <string>

#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// The build ids (a hash of the contents, NT_GNU_BUILD_ID) of the executable and of every library it has loaded, one
/// after another: equal for processes that run the same code. Fails, naming the file, when one has no build id.
llvm::Expected<std::string> getBuildIdentity();

}  // namespace mlir::sgd

#endif
