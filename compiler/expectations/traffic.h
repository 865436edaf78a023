// The bytes that a plan-level program sends, by cause: each movement of a merged collective is counted separately.
#ifndef SGD_COMPILER_EXPECTATIONS_TRAFFIC_H
#define SGD_COMPILER_EXPECTATIONS_TRAFFIC_H

#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// The part of a collective or message that one cause in the source needs.
struct Traffic {
  std::string kind;               ///< "all_gather", ..., "send"
  std::vector<std::string> axes;  ///< of the mesh, over which it communicates
  std::string scope;              ///< see getScope
  std::string what;               ///< "all_gather at gpt.py:31:8 of tensor<64x16xf32> for sgd.dot_general"
  uint64_t bytes = 0;             ///< that a rank sends in all its runs of a step
};

/// In program order, from a plan-level function with all that it runs. The bytes of all parts of a collective are those
/// that the report counts for it.
std::vector<Traffic> findTraffic(func::FuncOp function);

}  // namespace mlir::sgd

#endif
