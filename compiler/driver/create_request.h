// The request of a compilation that begins with texts.
#ifndef SGD_COMPILER_CREATE_REQUEST_H
#define SGD_COMPILER_CREATE_REQUEST_H

#include "compiler/driver/files.h"
#include "compiler/request/request.h"
#include "compiler/target/target.h"

namespace mlir::sgd {

/// What the user asks for; where they name no topology, with the one of `target`.
Request createRequest(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options, const Target& target);

}  // namespace mlir::sgd

#endif
