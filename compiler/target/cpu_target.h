// The cpu target: kernels as machine code of one kind of CPU.
#ifndef SGD_COMPILER_CPU_TARGET_H
#define SGD_COMPILER_CPU_TARGET_H

#include "compiler/target/target.h"

namespace mlir::sgd {

/// For CompileOptions::cpu; fails when the host's own code cannot be made.
llvm::Expected<std::unique_ptr<Target>> createCpuTarget(const CompileOptions& options);

}  // namespace mlir::sgd

#endif
