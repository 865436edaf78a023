// Blocks of sorts and choices.
#include "targets/gpu/codegen/row_kernels.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_layout.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/row_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

/// Of the 48 KiB that every GPU gives a block without being asked.
static constexpr int64_t kMostSharedBytes = 40 << 10;
/// Elements that short rows of a block have together.
static constexpr int64_t kElementsOfBlock = 1024;

/// Elements whose tuples fit there twice: runs are merged from one copy to the other.
static int64_t sharedElements(fusion::SortRowsOp sort) {
  int64_t tuple = 0;
  for (Value input : sort.getInputs()) tuple += getElementBytes(tensorType(input).getElementType());
  return kMostSharedBytes / (2 * tuple);
}

bool mlir::sgd::gpu::sortsInSharedMemory(fusion::SortRowsOp sort) { return rowLength(sort) <= sharedElements(sort); }

int64_t mlir::sgd::gpu::rowsOfBlock(Operation* rowOp) {
  auto sort = dyn_cast<fusion::SortRowsOp>(rowOp);
  if (!sort || !sortsInSharedMemory(sort)) return 1;
  int64_t elements = std::min(kElementsOfBlock, sharedElements(sort));
  return std::clamp<int64_t>(elements / std::max<int64_t>(rowLength(rowOp), 1), 1,
                             std::max<int64_t>(numRows(rowOp), 1));
}

unsigned mlir::sgd::gpu::rowKernelThreads(Operation* rowOp) {
  int64_t elements = rowsOfBlock(rowOp) * rowLength(rowOp);
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(1, elements / 2)), kWarp, 512);
}

KernelInterface mlir::sgd::gpu::describeRowKernel(Operation* rowOp) {
  KernelInterface kernel;
  kernel.range = llvm::divideCeil(numRows(rowOp), rowsOfBlock(rowOp));
  return kernel;
}

LogicalResult mlir::sgd::gpu::emitRowKernel(llvm::Module& module, Operation* rowOp, const KernelRequest& request) {
  if (auto sort = dyn_cast<fusion::SortRowsOp>(rowOp)) return emitSortKernel(module, sort, request);
  return emitTopKKernel(module, cast<TopKOp>(rowOp), request);
}
