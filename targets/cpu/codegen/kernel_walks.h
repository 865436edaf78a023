// When a kernel with reductions evaluates what: which walk over a row stores each result, and which values a walk keeps
// for later ones. Walk p computes the reductions of phase p; one more may follow for what needs them all. No LLVM.
#ifndef SGD_TARGETS_CPU_CODEGEN_KERNEL_WALKS_H
#define SGD_TARGETS_CPU_CODEGEN_KERNEL_WALKS_H

#include "targets/cpu/codegen/codegen.h"
#include "targets/kernels/kernel_plan.h"

namespace mlir::sgd::cpu {

struct KernelWalks {
  /// By number of the store; 0 for stores once per parallel point, which follow all walks.
  llvm::SmallVector<unsigned> storeWalk;
  /// Nodes whose values stay in a buffer of the row, and the walk that fills it: costly ones that later walks need too.
  llvm::DenseMap<unsigned, unsigned> kept;
  unsigned walks = 0;
};

/// `points`: elements of a buffer of the row. An operand that is overwritten (`inPlace`) is not read by a walk after
/// the one that writes to it.
KernelWalks planWalks(const KernelPlan& plan, llvm::ArrayRef<InPlacePair> inPlace, int64_t points);

}  // namespace mlir::sgd::cpu

#endif
