// The interface of a cluster's kernel on a GPU.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/codegen.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/codegen/convolution_kernel.h"
#include "targets/gpu/codegen/row_kernels.h"
#include "targets/gpu/codegen/scan_kernel.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

/// Blocks along x.
static constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
/// Of 8 bytes: 4096 bytes, what launches took before CUDA 12.1.
static constexpr size_t kMostParameters = 512;

static FailureOr<KernelInterface> describePlan(fusion::ClusterOp cluster) {
  FailureOr<KernelPlan> plan = planKernel(cluster, WalkStyle::Threads);
  if (failed(plan)) return failure();
  KernelInterface kernel;
  kernel.range = makeSchedule(*plan).blocks;
  kernel.coordinates = plan->coordinates;
  kernel.inPlaceCandidates = findInPlaceCandidates(*plan);
  return kernel;
}

static FailureOr<KernelInterface> describeBySchedule(fusion::ClusterOp cluster) {
  if (Operation* rowOp = getRowOp(cluster)) return describeRowKernel(rowOp);
  if (CumulativeOp scan = getScan(cluster)) return describeScanKernel(scan);
  if (fusion::ConvolutionOp convolution = getConvolution(cluster)) return describeConvolutionKernel(convolution);
  if (fusion::AttentionOpInterface attention = getAttention(cluster)) return describeAttention(attention);
  return describePlan(cluster);
}

unsigned mlir::sgd::gpu::getBlockThreads(fusion::ClusterOp cluster) {
  if (Operation* rowOp = getRowOp(cluster)) return rowKernelThreads(rowOp);
  if (CumulativeOp scan = getScan(cluster)) return scanThreads(scan);
  // They take all registers and much shared memory.
  if (getConvolution(cluster) || getAttention(cluster)) return 0;
  FailureOr<KernelPlan> plan = planKernel(cluster, WalkStyle::Threads);
  return succeeded(plan) ? makeSchedule(*plan).threads : 0;
}

FailureOr<KernelInterface> mlir::sgd::gpu::describeKernel(fusion::ClusterOp cluster) {
  FailureOr<KernelInterface> kernel = describeBySchedule(cluster);
  if (succeeded(kernel) && kernel->range > kMostBlocks)
    return cluster.emitOpError() << "needs " << kernel->range << " thread blocks; expected at most " << kMostBlocks
                                 << ", as many as a GPU launches at once; shard the tensors";
  size_t buffers = cluster->getNumOperands() + cluster->getNumResults();
  if (succeeded(kernel) && buffers + kernel->coordinates.size() > kMostParameters)
    return cluster.emitOpError() << "has " << buffers << " operands and results; expected at most " << kMostParameters
                                 << " in a kernel of a GPU; combine some of them";
  return kernel;
}
