// Weights of model files as safetensors files.
#ifndef SGD_COMPILER_DRIVER_WRITE_WEIGHTS_H
#define SGD_COMPILER_DRIVER_WRITE_WEIGHTS_H

#include "compiler/driver/files.h"

namespace mlir::sgd {

/// Writes the weights that `source` carries to the safetensors file `path`, which is untouched or complete afterwards.
/// Prints one line to `errors` on failure, and where the file carries none.
LogicalResult writeWeights(const ProgramSource& source, llvm::StringRef path, llvm::raw_ostream& errors);

}  // namespace mlir::sgd

#endif
