// The request of a compilation that begins with texts.
#ifndef SGD_COMPILER_CREATE_REQUEST_H
#define SGD_COMPILER_CREATE_REQUEST_H

#include "compiler/driver/files.h"
#include "compiler/request/request.h"
#include "compiler/target/target.h"

namespace mlir::sgd {

/// The request for `options`, with the topology of `target` where they name none.
Request createRequest(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options, const Target& target);

}  // namespace mlir::sgd

#endif
