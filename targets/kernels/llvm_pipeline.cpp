// A few function passes; nothing between functions, since a kernel is one. LLVM's own tools run a back end several
// times too (llc --compile-twice).
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

struct mlir::sgd::CodeGenerator::Optimizer {
  explicit Optimizer(llvm::TargetMachine& machine) {
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    passes.addPass(llvm::PromotePass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  }

  /// Forgets what is known about functions that will not be there the next time.
  void clear() {
    modules.clear();
    components.clear();
    functions.clear();
    loops.clear();
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::FunctionPassManager passes;
};

struct mlir::sgd::CodeGenerator::BackEnd {
  BackEnd(llvm::TargetMachine& machine, llvm::CodeGenFileType type)
      : stream(code), canWrite(!machine.addPassesToEmitFile(passes, stream, nullptr, type)) {}

  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream;
  llvm::legacy::PassManager passes;
  bool canWrite;
};

mlir::sgd::CodeGenerator::CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine, llvm::CodeGenFileType type)
    : machine(std::move(machine)),
      optimizer(std::make_unique<Optimizer>(*this->machine)),
      backEnd(std::make_unique<BackEnd>(*this->machine, type)) {}

mlir::sgd::CodeGenerator::~CodeGenerator() = default;

void mlir::sgd::CodeGenerator::optimize(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) optimizer->passes.run(function, optimizer->functions);
  optimizer->clear();
}

llvm::FailureOr<llvm::SmallVector<char, 0>> mlir::sgd::CodeGenerator::emit(llvm::Module& module) {
  if (!backEnd->canWrite) return llvm::failure();
  backEnd->code.clear();
  backEnd->passes.run(module);
  return backEnd->code;
}
