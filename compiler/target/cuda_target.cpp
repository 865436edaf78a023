// Adapts targets/gpu/codegen to the compiler.
#include "compiler/target/cuda_target.h"

#include "compiler/target/combine_groups.h"
#include "compiler/target/kernel_requests.h"
#include "dialects/plan/linear_algebra.h"
#include "llvm/ADT/StringSwitch.h"
#include "runtime/artifact/kernel_modules.h"
#include "targets/gpu/codegen/codegen.h"
#include "targets/gpu/libraries/library_model.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A launch takes about 5 us, in which a kernel reads and writes a million elements.
constexpr int64_t kElementsPerLaunch = 1 << 20;

/// The hosts that have such GPUs.
StringRef getTopology(const gpu::Architecture& architecture) {
  return llvm::StringSwitch<StringRef>(architecture.name).Case("sm_80", "a100").Case("sm_100", "b200").Default("h100");
}

class CudaKernels : public Target {
 public:
  CudaKernels(SmallVector<gpu::Architecture> architectures, unsigned threads)
      : architectures(std::move(architectures)), libraries(this->architectures, kElementsPerLaunch), threads(threads) {}

  StringRef getName() const override { return ::sgd::artifact::kCudaTarget; }

  TargetDescription getDescription() const override {
    TargetDescription description;
    description.topology = getTopology(architectures.front());
    // Blocks for some 150 multiprocessors, of a warp's width in columns.
    description.reductionParts = 512;
    description.reductionColumns = 32;
    description.scanWorkers = 256;
    description.elementsPerLaunch = kElementsPerLaunch;
    description.hasOwnMemory = true;
    return description;
  }

  const LibraryModel& getLibraries() const override { return libraries; }

  KernelModel getKernelModel(Timings* timings) const override {
    return mlir::sgd::getKernelModel(gpu::describeKernel, timings);
  }

  LogicalResult compileKernels(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer,
                               Timings* timings) const override {
    if (failed(refuseLinearAlgebra(plan))) return failure();
    ::sgd::artifact::ArtifactT& artifact = writer.artifact();
    for (const gpu::Architecture& architecture : architectures) artifact.architectures.push_back(architecture.name);
    SmallVector<kernels::KernelRequest> requests = getKernelRequests(plan);
    if (requests.empty()) return success();
    Timings::Scope scope(timings, "kernels: LLVM");
    gpu::Combinations combinations = combineGroups(artifact, requests);
    FailureOr<gpu::GpuKernels> compiled = gpu::compileKernels(requests, architectures, threads, combinations);
    if (failed(compiled)) return failure();
    for (auto [kernel, metrics] : llvm::zip_equal(artifact.kernels, compiled->metrics)) {
      kernel->threads = metrics.threads;
      kernel->schedule = metrics.schedule;
      kernel->access_bytes = metrics.accessBytes;
      kernel->module_shared_bytes = metrics.sharedBytes;
    }
    writer.SetKernels(::sgd::artifact::PackKernelModules(compiled->modules));
    return success();
  }

  std::string getIdentity() const override {
    return "cuda:" + llvm::join(llvm::map_range(architectures, [](const auto& entry) { return entry.name; }), ",");
  }

 private:
  static LogicalResult refuseLinearAlgebra(ModuleOp plan) {
    WalkResult walk = plan.walk([](plan::LinearAlgebraOp op) {
      op.emitError() << "linear algebra (" << stringifyLinearAlgebraKind(op.getKind())
                     << ") is not computed on GPUs; expected none; compile for --target=cpu, or compute it outside of "
                        "the step";
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }

  SmallVector<gpu::Architecture> architectures;
  gpu::GpuLibraries libraries;
  unsigned threads;
};

}  // namespace

llvm::Expected<std::unique_ptr<Target>> mlir::sgd::createCudaTarget(const CompileOptions& options) {
  auto architectures = gpu::parseArchitectures(StringRef(options.target).split(':').second);
  if (!architectures) return architectures.takeError();
  return std::make_unique<CudaKernels>(std::move(*architectures), getCompileThreads(options.threads));
}
