// Batch norms whose statistics are those of a group of rows, as each rank has: of PyTorch's DistributedDataParallel.
#ifndef SGD_COMPILER_RECIPE_GROUP_STATISTICS_H
#define SGD_COMPILER_RECIPE_GROUP_STATISTICS_H

#include <functional>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Before: a forward pass with statistics of all rows, as sums over rows that `isStatistic` names. After: the rows are
/// `groups` blocks of equally many, one after the other. Each is normalized by its own statistics, [groups, ...], which
/// need no other rows. Results of the function that depend on statistics are the mean over groups.
///
/// Fails with a diagnostic on rows that do not divide, on a function without such sums, and on statistics that meet
/// rows in an op that is not elementwise.
LogicalResult groupStatistics(func::FuncOp function, int64_t groups,
                              const std::function<bool(Operation*)>& isStatistic);

}  // namespace mlir::sgd

#endif
