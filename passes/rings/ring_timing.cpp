// Two clocks: each step computes while the next block travels.
#include "passes/rings/ring_timing.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/partition/sharding_state.h"
#include "passes/remat/op_cost.h"

using namespace mlir;
using namespace mlir::sgd;

static double getBytes(Value value) { return static_cast<double>(getByteSize(value.getType())); }

/// Of a copy of `bytes`: read and written by a kernel.
static double getCopySeconds(double bytes, const CostModel& cost) { return cost.getOpSeconds(0, 2 * bytes); }

/// Of the matmul of one of `parts` equal blocks of `free`'s operand.
static double getMatmulSeconds(const FreeDim& free, double parts, const CostModel& cost) {
  DotGeneralOp dot = free.dot;
  double others = getBytes(dot->getOperand(1 - free.operand));
  double blocks = getBytes(free.getOperand()) + getBytes(dot.getResult());
  Type element = tensorType(dot.getLhs()).getElementType();
  return cost.getOpSeconds(estimateFlops(dot) / parts, others + blocks / parts, element.isF16() || element.isBF16());
}

static double getRingSeconds(double ranks, double compute, double exchange) {
  return compute + (ranks - 1) * std::max(compute, exchange);
}

double mlir::sgd::getSavedSeconds(const GatheredMatmul& matmul, const CostModel& cost) {
  spmd::AllGatherOp gather = matmul.gather;
  AxisParts group = getParts(lookupMesh(gather, gather.getAxes().getMesh()), gather.getAxes().getAxes());
  double ranks = static_cast<double>(getGroupSize(group)), tile = getBytes(gather.getInputs()[0]);
  double now = cost.getCollectiveSeconds(CollectiveKind::kAllGather, group, static_cast<uint64_t>(ranks * tile));
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
  double exchange = cost.getCollectiveSeconds(CollectiveKind::kGatherRange, group, static_cast<uint64_t>(tile));
  return now - begin - getRingSeconds(ranks, step, exchange);
}

double mlir::sgd::getSavedSeconds(const ScatteredMatmul& matmul, const CostModel& cost) {
  spmd::ReduceScatterOp scatter = matmul.scatter;
  AxisParts group = getParts(lookupMesh(scatter, scatter.getAxes().getMesh()), scatter.getAxes().getAxes());
  double ranks = static_cast<double>(getGroupSize(group)), tile = getBytes(scatter.getResult(0));
  double now = cost.getCollectiveSeconds(CollectiveKind::kReduceScatter, group, static_cast<uint64_t>(ranks * tile)) +
               getMatmulSeconds(matmul.dot, 1, cost);
  double block = getBytes(matmul.dot.getOperand()) / ranks;
  double step =
      getMatmulSeconds(matmul.dot, ranks, cost) + getCopySeconds(block, cost) + getCopySeconds(4 * tile, cost);
  double exchange = cost.getCollectiveSeconds(CollectiveKind::kGatherRange, group, static_cast<uint64_t>(tile));
  return now - getRingSeconds(ranks, step, exchange);
}
