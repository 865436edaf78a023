// The values that a program keeps in memory of the host beside the device, by source line.
#ifndef SGD_COMPILER_REPORT_OFFLOADED_H
#define SGD_COMPILER_REPORT_OFFLOADED_H

#include <vector>

#include "compiler/report/report.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// One record for all buffers of a kind and line, and for each argument; from a plan-level function.
std::vector<OffloadedReport> findOffloaded(func::FuncOp function, const CostModel& cost);

}  // namespace mlir::sgd

#endif
