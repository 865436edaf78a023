// LLVM's view of a CpuTarget.
#ifndef SGD_TARGETS_CPU_CODEGEN_CPU_TARGET_H
#define SGD_TARGETS_CPU_CODEGEN_CPU_TARGET_H

#include <memory>

#include "llvm/Target/TargetMachine.h"
#include "targets/cpu/codegen/codegen.h"

namespace mlir::sgd::cpu {

/// A target machine for position-independent code; null when LLVM was built without x86.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const CpuTarget& target);

}  // namespace mlir::sgd::cpu

#endif
