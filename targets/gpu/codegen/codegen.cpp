// From clusters to PTX: plans, IR, LLVM's passes and back end in parallel groups.
#include "targets/gpu/codegen/codegen.h"

#include "dialects/fusion/fusion_dialect.h"
#include "llvm/IR/Verifier.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/codegen/convolution_kernel.h"
#include "targets/gpu/codegen/kernel_emitter.h"
#include "targets/gpu/codegen/row_kernels.h"
#include "targets/gpu/codegen/scan_kernel.h"
#include "targets/kernels/host_threads.h"
#include "targets/kernels/llvm_pipeline.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

/// Kernels of one LLVM context; fixed, so that the text does not depend on the number of threads.
static constexpr size_t kGroup = 16;

namespace {

/// A kernel of a request or a combined one, and how many requests' code it holds.
struct Unit {
  const KernelRequest* request = nullptr;
  const CombinedRequest* combined = nullptr;
  size_t size = 1;
};

/// Functions of one group, and the group's text.
struct CompiledGroup {
  std::string text;
  std::vector<KernelMetrics> metrics;               // by unit
  llvm::DenseMap<Operation*, KernelMetrics> parts;  // of clusters that stand in combined kernels
  bool isDone = false;
};

}  // namespace

/// Adds the kernel of a request; how its work is dealt out.
static FailureOr<StringRef> writeKernel(llvm::Module& module, const KernelRequest& request) {
  if (Operation* rowOp = getRowOp(request.body)) {
    if (failed(emitRowKernel(module, rowOp, request))) return failure();
    return isa<fusion::SortRowsOp>(rowOp) ? StringRef("sort") : StringRef("top_k");
  }
  if (CumulativeOp scan = getScan(request.body)) {
    emitScanKernel(module, scan, request);
    return StringRef("scan");
  }
  if (fusion::ConvolutionOp convolution = getConvolution(request.body)) {
    emitConvolutionKernel(module, convolution, request);
    return StringRef("convolution");
  }
  if (fusion::AttentionOpInterface attention = getAttention(request.body)) {
    emitAttentionKernel(module, attention, request);
    return StringRef("attention");
  }
  FailureOr<KernelPlan> plan = planKernel(request.body, WalkStyle::Threads);
  if (failed(plan)) return failure();
  KernelEmitter emitter(module, *plan, request);
  if (failed(emitter.run())) return failure();
  return getName(emitter.getSchedule().kind);
}

static FailureOr<KernelMetrics> emitKernel(llvm::Module& module, const KernelRequest& request) {
  FailureOr<StringRef> schedule = writeKernel(module, request);
  if (failed(schedule)) return failure();
  llvm::Function& kernel = *module.getFunction(request.symbol);
  setSchedule(kernel, *schedule);
  return getMetrics(kernel);
}

/// Names that modules of one text may share otherwise.
static void makeNamesUnique(llvm::Module& module, size_t group) {
  for (llvm::GlobalVariable& global : module.globals())
    if (global.hasPrivateLinkage()) global.setName(global.getName() + "_" + llvm::Twine(group));
  for (llvm::Function& function : module)
    if (function.hasLocalLinkage()) function.setName(function.getName() + "_" + llvm::Twine(group));
}

static LogicalResult print(llvm::Module& module, CodeGenerator& generator, bool isEmulated, std::string& text) {
  if (isEmulated) {
    llvm::raw_string_ostream(text) << module;
    return success();
  }
  FailureOr<SmallVector<char, 0>> code = generator.emit(module);
  if (failed(code)) return failure();
  text.assign(code->begin(), code->end());
  return success();
}

static LogicalResult compileGroup(ArrayRef<Unit> units, ArrayRef<KernelRequest> requests,
                                  const Architecture& architecture, size_t number, CompiledGroup& group) {
  fusion::ClusterOp first = requests.front().body;
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(architecture);
  if (!machine)
    return first->emitError(
        "this compiler's LLVM makes no code for NVIDIA GPUs; expected its NVPTX back end; build sgdc with an LLVM that "
        "has it");
  CodeGenerator generator(std::move(machine), llvm::CodeGenFileType::AssemblyFile);
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(generator.getMachine().createDataLayout());
  module.setTargetTriple(generator.getMachine().getTargetTriple());
  auto emitPart = [&](llvm::Module& module, const KernelRequest& request) -> FailureOr<unsigned> {
    FailureOr<KernelMetrics> metrics = emitKernel(module, request);
    if (failed(metrics)) return failure();
    group.parts[request.body] = *metrics;
    return metrics->threads;
  };
  for (const Unit& unit : units) {
    FailureOr<KernelMetrics> metrics = unit.request ? emitKernel(module, *unit.request)
                                                    : emitCombinedKernel(module, *unit.combined, requests, emitPart);
    if (failed(metrics)) return failure();
    group.metrics.push_back(std::move(*metrics));
  }
  std::string problem;
  llvm::raw_string_ostream explanation(problem);
  if (llvm::verifyModule(module, &explanation)) return first->emitError("kernel IR is not valid: ") << problem;
  makeNamesUnique(module, number);
  generator.optimize(module);
  return print(module, generator, architecture.isEmulated(), group.text);
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

/// Units in groups of about kGroup requests' code.
static std::vector<SmallVector<Unit>> makeGroups(ArrayRef<KernelRequest> requests, const Combinations& combinations) {
  std::vector<SmallVector<Unit>> groups;
  size_t size = kGroup;
  auto add = [&](Unit unit) {
    if (size + unit.size > kGroup) groups.emplace_back(), size = 0;
    groups.back().push_back(unit);
    size += unit.size;
  };
  for (auto [number, request] : llvm::enumerate(requests))
    if (combinations.onlyCombined.empty() || !combinations.onlyCombined[number]) add({&request, nullptr, 1});
  for (const CombinedRequest& combined : combinations.combined) {
    llvm::SmallDenseSet<unsigned> kernels;
    for (const CombinedPart& part : combined.parts) kernels.insert(part.request);
    add({nullptr, &combined, kernels.size()});
  }
  return groups;
}

/// By request, then by combined kernel. Those of requests without a kernel of their own stand among the others.
static std::vector<KernelMetrics> collectMetrics(ArrayRef<CompiledGroup> groups, ArrayRef<KernelRequest> requests,
                                                 const Combinations& combinations) {
  std::vector<KernelMetrics> ofUnits, metrics;
  llvm::DenseMap<Operation*, KernelMetrics> ofParts;
  for (const CompiledGroup& group : groups) {
    llvm::append_range(ofUnits, group.metrics);
    for (const auto& [cluster, part] : group.parts) ofParts[cluster] = part;
  }
  auto next = ofUnits.begin();
  for (auto [number, request] : llvm::enumerate(requests)) {
    bool isAlone = combinations.onlyCombined.empty() || !combinations.onlyCombined[number];
    metrics.push_back(isAlone ? *next++ : ofParts.lookup(request.body));
  }
  metrics.insert(metrics.end(), next, ofUnits.end());
  return metrics;
}

FailureOr<GpuKernels> mlir::sgd::gpu::compileKernels(ArrayRef<KernelRequest> requests,
                                                     ArrayRef<Architecture> architectures, unsigned helpers,
                                                     const Combinations& combinations) {
  GpuKernels kernels;
  if (requests.empty()) return kernels;
  std::vector<SmallVector<Unit>> groups = makeGroups(requests, combinations);
  for (const Architecture& architecture : architectures) {
    std::vector<SmallVector<Unit>> parts = groups;
    if (architecture.isEmulated()) {  // whose texts cannot be joined
      parts.assign(1, {});
      for (const SmallVector<Unit>& group : groups) parts.front().append(group);
    }
    std::vector<CompiledGroup> compiled(parts.size());
    runOnHostThreads(*requests.front().body->getContext(), parts.size(), helpers, [&](size_t number) {
      compiled[number].isDone =
          succeeded(compileGroup(parts[number], requests, architecture, number, compiled[number]));
    });
    if (!llvm::all_of(compiled, [](const CompiledGroup& group) { return group.isDone; })) return failure();
    kernels.metrics = collectMetrics(compiled, requests, combinations);
    kernels.modules.push_back(join(compiled));
  }
  return kernels;
}
