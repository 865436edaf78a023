// Times of ops are those by which recomputation ranks candidates; collectives are timed as the plan will.
#include "passes/prefetch/loop_timing.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/spmd/collective.h"
#include "passes/partition/sharding_state.h"
#include "passes/remat/op_cost.h"

using namespace mlir;
using namespace mlir::sgd;

static double getCollectiveSeconds(spmd::CollectiveOpInterface collective, const CostModel& cost) {
  spmd::CollectiveForm form = collective.getForm();
  ValueRange counted = collective->getOperands();
  if (::sgd::comm::CountsResults(form.kind)) counted = collective->getResults();
  uint64_t bytes = 0;
  for (Value value : counted) bytes += getByteSize(value.getType());
  MeshAttr mesh = lookupMesh(collective, form.group.getMesh());
  return cost.getCollectiveSeconds(form.kind, getParts(mesh, form.group.getAxes()), bytes);
}

static double getOpSeconds(Operation* op, const CostModel& cost) {
  if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op)) return getCollectiveSeconds(collective, cost);
  double seconds = 0;
  for (Region& region : op->getRegions())
    for (Operation& inner : region.getOps()) seconds += getOpSeconds(&inner, cost);
  auto loop = dyn_cast<WhileOp>(op);
  if (loop) return seconds * static_cast<double>(loop.getTrips().value_or(1));
  return op->getNumRegions() != 0 ? seconds : estimateSeconds(op, cost);
}

LoopTiming::LoopTiming(WhileOp loop, ArrayRef<spmd::AllGatherOp> gathers, const CostModel& cost) {
  llvm::DenseMap<Operation*, unsigned> numbers;
  for (spmd::AllGatherOp gather : gathers) {
    numbers[gather] = gatherSeconds.size();
    gatherSeconds.push_back(getCollectiveSeconds(cast<spmd::CollectiveOpInterface>(*gather), cost));
  }
  for (Operation& op : loop.getBody().front()) {
    if (numbers.contains(&op)) continue;
    Step& step = steps.emplace_back();
    step.seconds = getOpSeconds(&op, cost);
    for (Value operand : op.getOperands())
      if (auto found = numbers.find(operand.getDefiningOp()); found != numbers.end())
        step.waitsFor.push_back(found->second);
  }
}

double LoopTiming::getSeconds(unsigned numPrefetched) const {
  double linkIsFree = 0;
  SmallVector<double> ends(gatherSeconds.size());
  for (unsigned gather = numPrefetched; gather < ends.size(); ++gather)
    ends[gather] = linkIsFree += gatherSeconds[gather];
  for (unsigned gather = 0; gather < numPrefetched; ++gather) linkIsFree += gatherSeconds[gather];
  double now = 0;
  for (const Step& step : steps) {
    for (unsigned gather : step.waitsFor) now = std::max(now, ends[gather]);
    now += step.seconds;
  }
  return std::max(now, linkIsFree);
}
