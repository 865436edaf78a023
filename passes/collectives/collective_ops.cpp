// Tells collectives from other ops and reads their group.
#include "passes/collectives/collective_ops.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isCollective(Operation* op) {
  return isa<spmd::AllReduceOp, spmd::AllGatherOp, spmd::ReduceScatterOp, spmd::AllToAllOp, spmd::CollectivePermuteOp,
             spmd::BroadcastOp, spmd::GatherRangeOp>(op);
}

AxisListAttr mlir::sgd::getGroup(Operation* collective) {
  StringRef name = isa<spmd::CollectivePermuteOp>(collective) ? "to" : "axes";
  return collective->getAttrOfType<AxisListAttr>(name);
}
