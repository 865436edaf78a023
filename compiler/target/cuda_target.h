// The cuda target: kernels as PTX for NVIDIA GPUs.
#ifndef SGD_COMPILER_CUDA_TARGET_H
#define SGD_COMPILER_CUDA_TARGET_H

#include "compiler/target/target.h"

namespace mlir::sgd {

/// For the architectures that CompileOptions::target names after `cuda:`.
llvm::Expected<std::unique_ptr<Target>> createCudaTarget(const CompileOptions& options);

}  // namespace mlir::sgd

#endif
