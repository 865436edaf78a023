// The interface of a cluster's kernel on the CPU.
#include "dialects/cost/cost_op.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/codegen/kernel_emitter.h"
#include "targets/cpu/codegen/row_kernels.h"
#include "targets/kernels/kernel_plan.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

int64_t mlir::sgd::cpu::getGrain(fusion::ClusterOp cluster, int64_t range) {
  Work work = getWork(cluster);
  range = std::max<int64_t>(range, 1);
  double ofIteration = std::max(1.0, (work.getBytes() + work.getFlops()) / static_cast<double>(range));
  return std::clamp<int64_t>(static_cast<int64_t>(32768 / ofIteration), 1, range);
}

FailureOr<KernelInterface> mlir::sgd::cpu::describeKernel(fusion::ClusterOp cluster) {
  if (Operation* rowOp = getRowOp(cluster)) return describeRowKernel(cluster, rowOp);
  FailureOr<KernelPlan> plan = planKernel(cluster);
  if (failed(plan)) return failure();
  KernelInterface kernel;
  kernel.range = parallelRange(*plan);
  kernel.coordinates = plan->coordinates;
  kernel.grain = getGrain(cluster, kernel.range);
  kernel.inPlaceCandidates = findInPlaceCandidates(*plan);
  return kernel;
}
