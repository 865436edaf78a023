// Each step computes while the next block travels.
#include "passes/time/rings/ring_timing.h"

#include "dialects/cost/cost_op.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/clock/ring.h"
#include "passes/timing/sized_exchange.h"

using namespace mlir;
using namespace mlir::sgd;

static double getBytes(Value value) { return static_cast<double>(getByteSize(value.getType())); }

/// Of a copy of `bytes`: read and written by a kernel.
static double getCopySeconds(double bytes, const CostModel& cost) { return cost.getSeconds(Work::ofCopy(bytes)); }

/// Of the matmul of one of `parts` equal blocks of `free`'s operand.
static double getMatmulSeconds(const FreeDim& free, double parts, const CostModel& cost) {
  DotGeneralOp dot = free.dot;
  double others = getBytes(dot->getOperand(1 - free.operand));
  double blocks = getBytes(free.getOperand()) + getBytes(dot.getResult());
  Work work;
  work.addOperations(getWork(dot), 1 / parts);
  work.readBytes = others + blocks / parts;
  return cost.getSeconds(work);
}

/// Of a step for each rank of the group of `whole`, between which each sends a tile to another one.
static double getSecondsAsRing(const SizedExchange& whole, double step, double tile, const CostModel& cost) {
  SizedExchange rotation{CollectiveKind::kGatherRange, whole.group, static_cast<uint64_t>(tile)};
  return getRingSeconds(getGroupSize(whole.group), step, rotation.getSeconds(cost));
}

double mlir::sgd::getSavedSeconds(const GatheredMatmul& matmul, const CostModel& cost) {
  spmd::AllGatherOp gather = matmul.gather;
  const SizedExchange whole = getSizedExchange(gather);
  double ranks = static_cast<double>(getGroupSize(whole.group)), tile = getBytes(gather.getInputs()[0]);
  double now = whole.getSeconds(cost);
  // A rotation fills two tiles, of which a third one is chosen.
  double step = getCopySeconds(2.5 * tile, cost), begin = 0;
  for (const FreeDim& free : matmul.dots) {
    double result = getBytes(DotGeneralOp(free.dot).getResult());
    now += getMatmulSeconds(free, 1, cost);
    step += getMatmulSeconds(free, ranks, cost) + getCopySeconds(result / ranks, cost);
    begin += getCopySeconds(result / 2, cost);
  }
  if (matmul.isReadWhole) {
    step += getCopySeconds(tile, cost);
    begin += getCopySeconds(ranks * tile / 2, cost);
  }
  return now - begin - getSecondsAsRing(whole, step, tile, cost);
}

double mlir::sgd::getSavedSeconds(const ScatteredMatmul& matmul, const CostModel& cost) {
  spmd::ReduceScatterOp scatter = matmul.scatter;
  const SizedExchange whole = getSizedExchange(scatter);
  double ranks = static_cast<double>(getGroupSize(whole.group)), tile = getBytes(scatter.getResult(0));
  double now = whole.getSeconds(cost) + getMatmulSeconds(matmul.dot, 1, cost);
  double block = getBytes(matmul.dot.getOperand()) / ranks;
  double step =
      getMatmulSeconds(matmul.dot, ranks, cost) + getCopySeconds(block, cost) + getCopySeconds(4 * tile, cost);
  return now - getSecondsAsRing(whole, step, tile, cost);
}
