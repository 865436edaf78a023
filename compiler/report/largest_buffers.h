// The buffers that take most memory, for messages about memory.
#ifndef SGD_COMPILER_REPORT_LARGEST_BUFFERS_H
#define SGD_COMPILER_REPORT_LARGEST_BUFFERS_H

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// "argument params['w'] at gpt.py:3:1 (4096 bytes), value at ...": the five largest of a plan-level function.
std::string describeLargestBuffers(func::FuncOp program);

}  // namespace mlir::sgd

#endif
