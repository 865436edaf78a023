// Kernels that go through whole rows in order, instead of computing elements at places: sorts, and the choice of the
// largest elements. A cluster of this kind holds one op; rows are its parallel iterations.
#ifndef SGD_TARGETS_CPU_CODEGEN_ROW_KERNELS_H
#define SGD_TARGETS_CPU_CODEGEN_ROW_KERNELS_H

#include "llvm/IR/Module.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/cpu/codegen/codegen.h"

namespace mlir::sgd::cpu {

/// As describeKernel, for a cluster with a row op.
KernelInterface describeRowKernel(fusion::ClusterOp cluster, Operation* rowOp);

/// Adds the function; emits an error on a scalar op without code.
LogicalResult emitRowKernel(llvm::Module& module, fusion::ClusterOp cluster, Operation* rowOp, llvm::StringRef symbol);

}  // namespace mlir::sgd::cpu

#endif
