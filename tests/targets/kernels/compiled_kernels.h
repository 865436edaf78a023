// The target under test: one suite runs for every target, and each provides this file's functions.
#ifndef SGD_TESTS_TARGETS_KERNELS_COMPILED_KERNELS_H
#define SGD_TESTS_TARGETS_KERNELS_COMPILED_KERNELS_H

#include <memory>
#include <vector>

#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::kernels {

class CompiledKernels {
 public:
  /// Ways to compile and run: levels of the CPU, orders of the GPU's threads. The first is the usual one.
  static std::vector<std::string> variants();

  /// The target's interface of a cluster's kernel.
  static FailureOr<KernelInterface> describe(fusion::ClusterOp cluster);

  /// Null where a kernel cannot be compiled or loaded; other errors than those of the input are test failures.
  static std::unique_ptr<CompiledKernels> create(ArrayRef<KernelRequest> requests, StringRef variant);

  virtual ~CompiledKernels() = default;

  /// Runs the part [begin, end) of the range of a kernel, whose number is that of its request.
  virtual void launch(size_t kernel, ArrayRef<void*> buffers, ArrayRef<int64_t> coordinates, int64_t begin,
                      int64_t end) = 0;
};

}  // namespace mlir::sgd::kernels

#endif
