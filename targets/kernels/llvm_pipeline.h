// From a kernel's LLVM IR to machine code or PTX, for both targets: the passes that this IR needs, and the back
// end.
#ifndef SGD_TARGETS_KERNELS_LLVM_PIPELINE_H
#define SGD_TARGETS_KERNELS_LLVM_PIPELINE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::sgd {

/// Improves every function of `module`. The emitters write the final loops and vectors, so what is left is
/// scalar: registers for stack slots, common subexpressions, invariants out of loops.
void optimizeKernels(llvm::Module& module, llvm::TargetMachine& machine);

/// The code of `module` as `type` for the machine; failure when the machine cannot write that.
llvm::FailureOr<llvm::SmallVector<char, 0>> emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                                                     llvm::CodeGenFileType type);

}  // namespace mlir::sgd

#endif
