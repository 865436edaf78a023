// From a kernel's LLVM IR to machine code or PTX, for both targets: the passes that this IR needs, and the back
// end.
#ifndef SGD_TARGETS_KERNELS_LLVM_PIPELINE_H
#define SGD_TARGETS_KERNELS_LLVM_PIPELINE_H

#include <memory>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::sgd {

/// LLVM's passes and back end for one machine. They compile any number of modules, one after another: building them
/// takes as long as compiling a small kernel. The code of a module does not depend on those before it.
class CodeGenerator {
 public:
  /// Writes code as `type`.
  CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine, llvm::CodeGenFileType type);
  ~CodeGenerator();

  const llvm::TargetMachine& getMachine() const { return *machine; }

  /// Improves every function of `module`. The emitters write the final loops and vectors, so what is left is
  /// scalar: registers for stack slots, common subexpressions, invariants out of loops.
  void optimize(llvm::Module& module);

  /// The code of `module`; failure when the machine cannot write such code.
  llvm::FailureOr<llvm::SmallVector<char, 0>> emit(llvm::Module& module);

 private:
  struct Optimizer;
  struct BackEnd;

  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<BackEnd> backEnd;
};

}  // namespace mlir::sgd

#endif
