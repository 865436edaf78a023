// From clusters to PTX: plans, IR, LLVM's passes and back end in parallel groups.
#include "targets/gpu/codegen/codegen.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/codegen/kernel_emitter.h"
#include "targets/gpu/codegen/row_kernels.h"
#include "targets/kernels/host_threads.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

/// Kernels of one LLVM context; fixed, so that the text does not depend on the number of threads.
static constexpr size_t kGroup = 16;

/// Functions of one group, and the group's text.
struct CompiledGroup {
  std::string text;
  SmallVector<unsigned> threads;
  bool isDone = false;
};

static void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
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

static LogicalResult emitKernel(llvm::Module& module, const KernelRequest& request, CompiledGroup& group) {
  if (Operation* rowOp = getRowOp(request.body)) {
    group.threads.push_back(rowKernelThreads(rowOp));
    return emitRowKernel(module, rowOp, request);
  }
  if (AttentionOpInterface attention = getAttention(request.body)) {
    group.threads.push_back(attentionThreads(attention));
    emitAttentionKernel(module, attention, request);
    return success();
  }
  FailureOr<KernelPlan> plan = planKernel(request.body, WalkStyle::Threads);
  if (failed(plan)) return failure();
  KernelEmitter emitter(module, *plan, request);
  group.threads.push_back(emitter.threads());
  return emitter.run();
}

/// Names that modules of one text may share otherwise.
static void makeNamesUnique(llvm::Module& module, size_t group) {
  for (llvm::GlobalVariable& global : module.globals())
    if (global.hasPrivateLinkage()) global.setName(global.getName() + "_" + llvm::Twine(group));
  for (llvm::Function& function : module)
    if (function.hasLocalLinkage()) function.setName(function.getName() + "_" + llvm::Twine(group));
}

static LogicalResult print(llvm::Module& module, llvm::TargetMachine& machine, bool isEmulated, std::string& text) {
  if (isEmulated) {
    llvm::raw_string_ostream(text) << module;
    return success();
  }
  SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager backEnd;
  if (machine.addPassesToEmitFile(backEnd, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) return failure();
  backEnd.run(module);
  text = bytes.str();
  return success();
}

static LogicalResult compileGroup(ArrayRef<KernelRequest> requests, const Architecture& architecture, size_t number,
                                  CompiledGroup& group) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(architecture);
  if (!machine) return requests.front().body->emitError("this compiler's LLVM cannot make code for NVIDIA GPUs");
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  for (const KernelRequest& request : requests)
    if (failed(emitKernel(module, request, group))) return failure();
  std::string problem;
  llvm::raw_string_ostream explanation(problem);
  if (llvm::verifyModule(module, &explanation))
    return requests.front().body->emitError("kernel IR is not valid: ") << problem;
  makeNamesUnique(module, number);
  optimize(module, *machine);
  return print(module, *machine, architecture.isEmulated(), group.text);
}

/// The texts as one module: every one but the first without the lines that say version and target.
static std::string join(ArrayRef<CompiledGroup> groups) {
  std::string text;
  for (const CompiledGroup& group : groups) {
    StringRef part = group.text;
    if (!text.empty()) part = part.split(".address_size 64\n").second;
    text += part;
  }
  return text;
}

FailureOr<GpuKernels> mlir::sgd::gpu::compileKernels(ArrayRef<KernelRequest> requests,
                                                     ArrayRef<Architecture> architectures, unsigned helpers) {
  GpuKernels kernels;
  if (requests.empty()) return kernels;
  for (const Architecture& architecture : architectures) {
    size_t size = architecture.isEmulated() ? requests.size() : kGroup;
    std::vector<CompiledGroup> groups(llvm::divideCeil(requests.size(), size));
    runOnHostThreads(*requests.front().body->getContext(), groups.size(), helpers, [&](size_t number) {
      groups[number].isDone =
          succeeded(compileGroup(requests.slice(number * size).take_front(size), architecture, number, groups[number]));
    });
    kernels.threads.clear();
    for (const CompiledGroup& group : groups) {
      if (!group.isDone) return failure();
      kernels.threads.append(group.threads);
    }
    kernels.modules.push_back(join(groups));
  }
  return kernels;
}
