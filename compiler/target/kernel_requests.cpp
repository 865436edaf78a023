// Adapts targets/kernels to the plan.
#include "compiler/target/kernel_requests.h"

#include "dialects/fusion/fusion_dialect.h"
#include <thread>

using namespace mlir;
using namespace mlir::sgd;

KernelModel mlir::sgd::getKernelModel(std::function<FailureOr<kernels::KernelInterface>(fusion::ClusterOp)> describe,
                                      Timings* timings) {
  KernelModel model;
  model.key = [timings](fusion::ClusterOp cluster) {
    Timings::Scope scope(timings, "kernels: compare");
    return kernels::structuralKey(cluster, {});
  };
  model.describe = [timings,
                    describe = std::move(describe)](fusion::ClusterOp cluster) -> FailureOr<KernelDescription> {
    Timings::Scope scope(timings, "kernels: describe");
    FailureOr<kernels::KernelInterface> kernel = describe(cluster);
    if (failed(kernel)) return failure();
    return KernelDescription{kernel->range, kernel->grain, kernel->inPlaceCandidates, kernel->coordinates};
  };
  return model;
}

static kernels::KernelRequest getRequest(plan::KernelOp kernel) {
  kernels::KernelRequest request{kernel.getCluster(), kernel.getSymName().str(), {}};
  for (unsigned result = 0; result < request.body.getNumResults(); ++result)
    if (std::optional<unsigned> operand = kernel.getInPlaceOperand(result))
      request.inPlace.push_back({result, *operand});
  return request;
}

SmallVector<kernels::KernelRequest> mlir::sgd::getKernelRequests(ModuleOp plan) {
  SmallVector<kernels::KernelRequest> requests;
  for (auto kernel : plan.getOps<plan::KernelOp>()) requests.push_back(getRequest(kernel));
  return requests;
}

unsigned mlir::sgd::getCompileThreads(unsigned asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}
