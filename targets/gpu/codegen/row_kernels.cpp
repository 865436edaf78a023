// Blocks of sorts and choices, one per row.
#include "targets/gpu/codegen/row_kernels.h"

#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/kernel_work.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

unsigned mlir::sgd::gpu::rowKernelThreads(Operation* rowOp) {
  int64_t wanted = llvm::PowerOf2Ceil(std::max<int64_t>(1, rowLength(rowOp) / 2));
  return std::clamp<int64_t>(wanted, kWarp, 512);
}

KernelInterface mlir::sgd::gpu::describeRowKernel(ClusterOp cluster, Operation* rowOp) {
  KernelInterface kernel;
  for (Value operand : cluster->getOperands()) kernel.bytes += byteSize(operand);
  for (Value result : cluster->getResults()) kernel.bytes += byteSize(result);
  kernel.range = numRows(rowOp);
  int64_t perElement = 2;
  if (auto sort = dyn_cast<SortRowsOp>(rowOp)) {
    auto comparison = static_cast<int64_t>(sort.getComparator().front().getOperations().size());
    int64_t passes = llvm::Log2_64_Ceil(std::max<int64_t>(rowLength(rowOp), 1));
    perElement = passes * passes * comparison / 2 + passes;
  } else {
    perElement = 4 * static_cast<int64_t>(cast<TopKOp>(rowOp).getK());
  }
  kernel.flops = tensorType(rowOp->getOperand(0)).getNumElements() * perElement;
  return kernel;
}

LogicalResult mlir::sgd::gpu::emitRowKernel(llvm::Module& module, Operation* rowOp, const KernelRequest& request) {
  if (auto sort = dyn_cast<SortRowsOp>(rowOp)) return emitSortKernel(module, sort, request);
  return emitTopKKernel(module, cast<TopKOp>(rowOp), request);
}
