// Adapts targets/cpu/codegen to the plan.
#include "compiler/cpu_kernels.h"

#include <thread>

#include "targets/cpu/codegen/codegen.h"

using namespace mlir;
using namespace mlir::sgd;

KernelModel mlir::sgd::getCpuKernelModel(Timings* timings) {
  KernelModel model;
  model.key = [timings](ClusterOp cluster) {
    Timings::Scope scope(timings, "kernels: compare");
    return cpu::structuralKey(cluster, {});
  };
  model.describe = [timings](ClusterOp cluster) -> FailureOr<KernelDescription> {
    Timings::Scope scope(timings, "kernels: describe");
    FailureOr<cpu::KernelInterface> kernel = cpu::describeKernel(cluster);
    if (failed(kernel)) return failure();
    return KernelDescription{kernel->range,       kernel->grain, kernel->inPlaceCandidates,
                             kernel->coordinates, kernel->flops, kernel->bytes};
  };
  return model;
}

static cpu::KernelRequest getRequest(plan::KernelOp kernel) {
  cpu::KernelRequest request{kernel.getCluster(), kernel.getSymName().str(), {}};
  for (unsigned result = 0; result < request.body.getNumResults(); ++result)
    if (std::optional<unsigned> operand = kernel.getInPlaceOperand(result))
      request.inPlace.push_back({result, *operand});
  return request;
}

LogicalResult mlir::sgd::compileCpuKernels(ModuleOp plan, const CompileOptions& options,
                                           ::sgd::artifact::ArtifactWriter& writer, Timings* timings) {
  std::string error;
  FailureOr<cpu::CpuTarget> target = cpu::CpuTarget::get(options.cpu, &error);
  if (failed(target)) return emitError(UnknownLoc::get(plan.getContext())) << error;
  writer.artifact().cpu = target->cpu;
  writer.artifact().cpu_features.assign(target->features.begin(), target->features.end());
  SmallVector<cpu::KernelRequest> requests;
  for (auto kernel : plan.getOps<plan::KernelOp>()) requests.push_back(getRequest(kernel));
  if (requests.empty()) return success();
  unsigned threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  FailureOr<SmallVector<char, 0>> object = failure();
  {
    Timings::Scope scope(timings, "kernels: LLVM and link");
    object = cpu::compileKernels(requests, *target, threads);
  }
  if (failed(object)) return failure();
  writer.SetKernelObject(std::string(object->begin(), object->end()));
  return success();
}
