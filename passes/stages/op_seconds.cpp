// Regions count by their ops.
#include "passes/stages/op_seconds.h"

#include "passes/remat/op_cost.h"

using namespace mlir;
using namespace mlir::sgd;

double mlir::sgd::getOpSeconds(Operation* op, const CostModel& cost) {
  if (op->getNumRegions() == 0 || !isa<WhileOp, CaseOp>(op)) return estimateSeconds(op, cost);
  double seconds = 0;
  for (Region& region : op->getRegions())
    for (Operation& inner : region.getOps()) seconds += getOpSeconds(&inner, cost);
  auto loop = dyn_cast<WhileOp>(op);
  return loop && loop.getTrips() ? seconds * static_cast<double>(*loop.getTrips()) : seconds;
}
