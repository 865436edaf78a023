// The gathers are on the link, all else on the rank's stream.
#include "passes/time/prefetch/loop_timing.h"

#include "passes/clock/rank_clock.h"

using namespace mlir;
using namespace mlir::sgd;

LoopTiming::LoopTiming(WhileOp loop, ArrayRef<spmd::AllGatherOp> gathers, const OpTimes& times) {
  llvm::DenseMap<Operation*, unsigned> numbers;
  for (spmd::AllGatherOp gather : gathers) {
    numbers[gather] = gatherSeconds.size();
    gatherSeconds.push_back(times.get(gather));
  }
  for (Operation& op : loop.getBody().front()) {
    if (numbers.contains(&op)) continue;
    Step& step = steps.emplace_back();
    step.seconds = times.get(&op);
    for (Value operand : op.getOperands())
      if (auto found = numbers.find(operand.getDefiningOp()); found != numbers.end())
        step.waitsFor.push_back(found->second);
  }
}

double LoopTiming::getSeconds(unsigned numPrefetched) const {
  RankClock clock;
  SmallVector<double> ends(gatherSeconds.size());
  for (unsigned gather = numPrefetched; gather < ends.size(); ++gather)
    ends[gather] = clock.start(gatherSeconds[gather]).end;
  for (unsigned gather = 0; gather < numPrefetched; ++gather) clock.start(gatherSeconds[gather]);
  for (const Step& step : steps) {
    for (unsigned gather : step.waitsFor) clock.waitUntil(ends[gather]);
    clock.run(step.seconds);
  }
  return std::max(clock.getNow(), clock.getFree());
}
