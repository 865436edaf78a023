// The interface of a cluster's kernel on the CPU.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/codegen/kernel_emitter.h"
#include "targets/cpu/codegen/row_kernels.h"
#include "targets/kernels/kernel_plan.h"
#include "targets/kernels/kernel_work.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

FailureOr<KernelInterface> mlir::sgd::cpu::describeKernel(fusion::ClusterOp cluster) {
  if (Operation* rowOp = getRowOp(cluster)) return describeRowKernel(cluster, rowOp);
  FailureOr<KernelPlan> plan = planKernel(cluster);
  if (failed(plan)) return failure();
  KernelInterface kernel;
  kernel.range = parallelRange(*plan);
  kernel.flops = operationsPerLaunch(*plan);
  kernel.bytes = touchedBytes(cluster);
  kernel.coordinates = plan->coordinates;
  // A part should move at least 32 KiB or compute as long.
  int64_t work = std::max<int64_t>((kernel.bytes + kernel.flops) / std::max<int64_t>(kernel.range, 1), 1);
  kernel.grain = std::clamp<int64_t>(32768 / work, 1, std::max<int64_t>(kernel.range, 1));
  kernel.inPlaceCandidates = findInPlaceCandidates(*plan);
  return kernel;
}
