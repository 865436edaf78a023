#include "passes/stages/op_seconds.h"

#include "dialects/sgd/sequential.h"
#include "dialects/spmd/collective.h"
#include "passes/remat/op_cost.h"

using namespace mlir;
using namespace mlir::sgd;

/// Whether `op` adds up in memory what parts compute one after the other.
static bool accumulates(spmd::CollectiveOpInterface op) {
  AxisListAttr group = op.getForm().group;
  MeshAxisAttr axis = getActiveSequentialAxis(getMesh(op->getParentOfType<ModuleOp>()));
  return axis && namesAxis(group, axis);
}

double mlir::sgd::getOpSeconds(Operation* op, const CostModel& cost) {
  return estimateNestedSeconds(op, [&](Operation* op) {
    auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
    if (!collective || !accumulates(collective)) return estimateSeconds(op, cost);
    return static_cast<double>(spmd::getCountedBytes(collective)) / cost.getTopology().device.memoryBandwidth;
  });
}
