// One walk: values through which scores are read are known before what reads them.
#include "passes/time/stages/repeat_costs.h"

#include "dialects/cost/cost_op.h"
#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

/// The price of a stored byte, in multiples of the time to write and read it.
static constexpr double kMemoryPrice = 4;

void RepeatCosts::addMatmul(Operation* op, const OpTimes& times) {
  auto dot = cast<DotGeneralOp>(op);
  auto made = static_cast<double>(getByteSize(dot.getType()));
  double time = times.get(op);
  double ofByte = kMemoryPrice * 2 / times.getCost().getTopology().device.memoryBandwidth;
  if (time >= made * ofByte) return;
  seconds[op] = time;
  bytes[op] = static_cast<int64_t>(time / ofByte) + 1;
}

RepeatCosts::RepeatCosts(const ProgramFlow& flow, const OpTimes& times) {
  llvm::DenseSet<Value> scores;  // what such matmuls give, and what is computed from it by elements
  for (Operation& op : flow.getOps()) {
    if (!flow.getLoops().get(&op).isInLoop) continue;
    bool readsScores = llvm::any_of(op.getOperands(), [&](Value operand) { return scores.contains(operand); });
    if (isa<DotGeneralOp>(op))
      addMatmul(&op, times);
    else if (isa<ReduceOp>(op) && readsScores)
      bytes[&op] = 1;
    if (bytes.contains(&op) || (readsScores && LoopSchedule::isCheap(&op))) scores.insert_range(op.getResults());
  }
}

std::optional<int64_t> RepeatCosts::get(Operation* op) const {
  if (auto found = bytes.find(op); found != bytes.end()) return found->second;
  return LoopSchedule::getRepeatCost(op);
}
