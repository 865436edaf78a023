// The smallest limit, and what takes the memory.
#include "compiler/search/memory_refusal.h"

#include "compiler/report/largest_buffers.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::emitMemoryRefusal(func::FuncOp program, uint64_t peak, uint64_t allowed, StringRef limit) {
  return emitError(UnknownLoc::get(program.getContext()))
         << "needs " << peak << " bytes in each rank, whatever is recomputed, where " << limit << " allows " << allowed
         << "; the smallest limit that can be met is " << peak
         << "; the largest buffers: " << describeLargestBuffers(program);
}
