// One walk; blocks of loops and branches are counted where their op stands.
#include "passes/spmd/choice/program_cost.h"

#include <numeric>

#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/spmd/collective.h"
#include "passes/timing/sized_exchange.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Meter {
 public:
  /// Adds what `block` sends and computes in `times` runs; returns the peak of what its values take.
  int64_t add(Block& block, double times);

  ProgramCost sum;

 private:
  void addCollective(spmd::CollectiveOpInterface collective, double times);
};
}  // namespace

static int64_t getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? static_cast<int64_t>(getByteSize(type)) : 0;
}

/// Bytes of `value` when its op has run: kernels make constants and repeated elements where they read them.
static int64_t getHeldBytes(Value value) {
  Operation* op = value.getDefiningOp();
  if (op && (op->hasTrait<OpTrait::ConstantLike>() || isa<BroadcastInDimOp, IotaOp, ReshapeOp>(op))) return 0;
  return getBytes(value);
}

void Meter::addCollective(spmd::CollectiveOpInterface collective, double times) {
  sum.sentBytes += times * static_cast<double>(getSizedExchange(collective).getSentBytes());
  if (!::sgd::comm::TraitsOf(collective.getCollectiveKind()).reduces) sum.exchanges += times;
}

/// One for each combination of an op's factors: the multiplications of a matmul. Results of one of several have nothing
/// to do with each other, as in a barrier.
static double countElements(Operation* op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->hasTrait<OpTrait::ConstantLike>()) return 0;
  if (op->getNumResults() != 1) {
    auto count = [](double sum, Value result) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      return sum + (type ? static_cast<double>(type.getNumElements()) : 0);
    };
    return std::accumulate(op->result_begin(), op->result_end(), 0.0, count);
  }
  double elements = 1;
  for (const Factor& factor : ruled.getShardingRule().factors) elements *= static_cast<double>(factor.size);
  return elements;
}

static double getTimes(Operation* op) {
  auto loop = dyn_cast<WhileOp>(op);
  return loop && loop.getTrips() ? static_cast<double>(*loop.getTrips()) : 1;
}

int64_t Meter::add(Block& block, double times) {
  llvm::DenseMap<Operation*, int64_t> freed;  // by op of the block, after it
  int64_t held = 0, peak = 0;
  for (Operation& op : block) {
    if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op))
      addCollective(collective, times);
    else
      sum.elements += times * countElements(&op);
    int64_t inside = 0;
    for (Region& region : op.getRegions())
      for (Block& inner : region) inside = std::max(inside, add(inner, times * getTimes(&op)));
    for (Value result : op.getResults()) {
      int64_t bytes = getHeldBytes(result);
      held += bytes;
      Operation* last = &op;
      for (Operation* user : result.getUsers()) {
        Operation* here = block.findAncestorOpInBlock(*user);
        if (here && last->isBeforeInBlock(here)) last = here;
      }
      freed[last] += bytes;
    }
    peak = std::max(peak, held + inside);
    held -= freed.lookup(&op);
  }
  return peak;
}

ProgramCost mlir::sgd::measureProgram(func::FuncOp function) {
  Meter meter;
  int64_t arguments = 0;
  for (Value argument : function.getArguments()) arguments += getBytes(argument);
  meter.sum.peakBytes = arguments + meter.add(function.front(), 1);
  return meter.sum;
}
