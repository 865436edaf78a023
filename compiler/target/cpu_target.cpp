// Adapts targets/cpu/codegen to the compiler.
#include "compiler/target/cpu_target.h"

#include "compiler/target/kernel_requests.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/libraries/library_model.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class CpuKernels : public Target {
 public:
  CpuKernels(cpu::CpuTarget cpu, unsigned threads) : cpu(std::move(cpu)), threads(threads) {}

  StringRef getName() const override { return "cpu"; }

  TargetDescription getDescription() const override { return {}; }

  const LibraryModel& getLibraries() const override { return libraries; }

  KernelModel getKernelModel(Timings* timings) const override {
    return mlir::sgd::getKernelModel(cpu::describeKernel, timings);
  }

  LogicalResult compileKernels(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer,
                               Timings* timings) const override {
    writer.artifact().cpu = cpu.cpu;
    writer.artifact().cpu_features.assign(cpu.features.begin(), cpu.features.end());
    SmallVector<kernels::KernelRequest> requests = getKernelRequests(plan);
    if (requests.empty()) return success();
    Timings::Scope scope(timings, "kernels: LLVM and link");
    FailureOr<SmallVector<char, 0>> object = cpu::compileKernels(requests, cpu, threads);
    if (failed(object)) return failure();
    writer.SetKernels(std::string(object->begin(), object->end()));
    return success();
  }

  std::string getIdentity() const override {
    return cpu.cpu + "," + std::to_string(cpu.vectorBits) + "," + llvm::join(cpu.features, ",");
  }

 private:
  cpu::CpuTarget cpu;
  cpu::CpuLibraries libraries;
  unsigned threads;
};

}  // namespace

llvm::Expected<std::unique_ptr<Target>> mlir::sgd::createCpuTarget(const CompileOptions& options) {
  std::string problem;
  FailureOr<cpu::CpuTarget> cpu = cpu::CpuTarget::get(options.cpu, &problem);
  if (failed(cpu)) return llvm::createStringError(problem);
  return std::make_unique<CpuKernels>(std::move(*cpu), getCompileThreads(options.threads));
}
