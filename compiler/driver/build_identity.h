// Which build of the compiler this process runs. Assumes ELF and a linker that writes build ids, as Linux distributions
// set theirs up.
#ifndef SGD_COMPILER_BUILD_IDENTITY_H
#define SGD_COMPILER_BUILD_IDENTITY_H

#include <string>

#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// The build ids (a hash of the contents, NT_GNU_BUILD_ID) of the object that has this function, and of the libraries
/// that its results depend on: LLVM's, unless they are in it, and those of C and C++. Sorted: equal for
/// processes in which the compiler is the same, whatever else they have loaded. Fails, naming the file, when one has no
/// build id.
llvm::Expected<std::string> getBuildIdentity();

}  // namespace mlir::sgd

#endif
