// The GPUs that code can be made for.
#ifndef SGD_TARGETS_GPU_CODEGEN_ARCHITECTURE_H
#define SGD_TARGETS_GPU_CODEGEN_ARCHITECTURE_H

#include <memory>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::sgd::gpu {

/// A compute capability, or `emulated`: the kernels as LLVM IR before the back end, which tests run on the host.
struct Architecture {
  std::string name;  ///< sm_90

  bool isEmulated() const { return name == "emulated"; }
  /// 90 for sm_90. Emulated kernels are called as Hopper's are.
  int getCapability() const;
};

/// `sm_80`, `sm_90`, `sm_100` or several of them with commas between. The error lists what is known.
llvm::Expected<llvm::SmallVector<Architecture>> parseArchitectures(llvm::StringRef text);

/// LLVM's view of an architecture; null when LLVM was built without NVPTX. Emulated kernels are made as for sm_80.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const Architecture& architecture);

}  // namespace mlir::sgd::gpu

#endif
