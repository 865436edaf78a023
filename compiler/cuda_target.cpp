// Adapts targets/gpu/codegen to the compiler.
#include "compiler/cuda_target.h"

#include "compiler/kernel_requests.h"
#include "llvm/ADT/StringSwitch.h"
#include "runtime/artifact/kernel_modules.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/codegen/codegen.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The hosts that have such GPUs.
StringRef getTopology(const gpu::Architecture& architecture) {
  return llvm::StringSwitch<StringRef>(architecture.name).Case("sm_80", "a100").Case("sm_100", "b200").Default("h100");
}

class CudaKernels : public Target {
 public:
  CudaKernels(SmallVector<gpu::Architecture> architectures, unsigned threads)
      : architectures(std::move(architectures)), threads(threads) {}

  StringRef getName() const override { return ::sgd::artifact::kCudaTarget; }

  TargetDescription getDescription() const override {
    TargetDescription description;
    description.topology = getTopology(architectures.front());
    description.hasTiles = false;
    description.multipliesIntegers = false;
    description.productsTakeRelu = false;  // cuBLASLt promises nothing of NaN
    description.attentionDepth = gpu::kMostDepth;
    return description;
  }

  KernelModel getKernelModel(Timings* timings) const override {
    return mlir::sgd::getKernelModel(gpu::describeKernel, timings);
  }

  LogicalResult compileKernels(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer,
                               Timings* timings) const override {
    ::sgd::artifact::ArtifactT& artifact = writer.artifact();
    for (const gpu::Architecture& architecture : architectures) artifact.architectures.push_back(architecture.name);
    SmallVector<kernels::KernelRequest> requests = getKernelRequests(plan);
    if (requests.empty()) return success();
    Timings::Scope scope(timings, "kernels: LLVM");
    FailureOr<gpu::GpuKernels> compiled = gpu::compileKernels(requests, architectures, threads);
    if (failed(compiled)) return failure();
    for (auto [kernel, blockThreads] : llvm::zip_equal(artifact.kernels, compiled->threads))
      kernel->threads = blockThreads;
    writer.SetKernels(::sgd::artifact::PackKernelModules(compiled->modules));
    return success();
  }

  std::string getIdentity() const override {
    return "cuda:" + llvm::join(llvm::map_range(architectures, [](const auto& entry) { return entry.name; }), ",");
  }

 private:
  SmallVector<gpu::Architecture> architectures;
  unsigned threads;
};

}  // namespace

llvm::Expected<std::unique_ptr<Target>> mlir::sgd::createCudaTarget(const CompileOptions& options) {
  auto architectures = gpu::parseArchitectures(StringRef(options.target).split(':').second);
  if (!architectures) return architectures.takeError();
  return std::make_unique<CudaKernels>(std::move(*architectures), getCompileThreads(options.threads));
}
