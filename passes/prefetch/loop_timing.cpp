// Times of ops are those by which recomputation ranks candidates; collectives are timed as the plan will.
#include "passes/prefetch/loop_timing.h"

#include "dialects/spmd/collective.h"
#include "passes/partition/sharding_state.h"
#include "passes/remat/op_cost.h"

using namespace mlir;
using namespace mlir::sgd;

static double getCollectiveSeconds(spmd::CollectiveOpInterface collective, const CostModel& cost) {
  spmd::CollectiveForm form = collective.getForm();
  MeshAttr mesh = lookupMesh(collective, form.group.getMesh());
  return cost.getCollectiveSeconds(form.kind, getParts(mesh, form.group.getAxes()), spmd::getCountedBytes(collective));
}

static double getOpSeconds(Operation* op, const CostModel& cost) {
  return estimateNestedSeconds(op, [&](Operation* op) {
    if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op)) return getCollectiveSeconds(collective, cost);
    return estimateSeconds(op, cost);
  });
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
