// Metrics of a kernel's code without running it, as sgd-inspect --kernels shows them.
#ifndef SGD_TARGETS_GPU_CODEGEN_KERNEL_METRICS_H
#define SGD_TARGETS_GPU_CODEGEN_KERNEL_METRICS_H

#include "llvm/IR/Function.h"

namespace mlir::sgd::gpu {

struct KernelMetrics {
  unsigned threads = 0;      ///< of a block
  std::string schedule;      ///< how work is dealt out to threads
  unsigned accessBytes = 0;  ///< widest access of a thread to global memory
  unsigned sharedBytes = 0;  ///< of a block
};

/// Says in the function how its work is dealt out.
void setSchedule(llvm::Function& kernel, llvm::StringRef name);

/// Of a kernel that has been written to its module; its shared arrays are those whose names begin with its own.
KernelMetrics getMetrics(const llvm::Function& kernel);

}  // namespace mlir::sgd::gpu

#endif
