// A few function passes; nothing between functions, since a kernel is one.
#include "targets/kernels/llvm_pipeline.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

using namespace mlir;

void mlir::sgd::optimizeKernels(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

llvm::FailureOr<llvm::SmallVector<char, 0>> mlir::sgd::emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                                                                llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager backEnd;
  if (machine.addPassesToEmitFile(backEnd, stream, nullptr, type)) return llvm::failure();
  backEnd.run(module);
  return code;
}
