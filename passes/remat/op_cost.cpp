// Matmuls and convolutions count by their arithmetic, everything else by its results.
#include "passes/remat/op_cost.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/spmd/collective.h"

using namespace mlir;
using namespace mlir::sgd;

double mlir::sgd::estimateFlops(Operation* op) {
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    double flops = 2 * static_cast<double>(tensorType(dot.getResult()).getNumElements());
    for (int64_t dim : dot.getLhsContracting()) flops *= static_cast<double>(tensorType(dot.getLhs()).getDimSize(dim));
    return flops;
  }
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    RankedTensorType kernel = tensorType(convolution.getRhs()), result = tensorType(convolution.getResult());
    int64_t features = std::max<int64_t>(1, result.getDimSize(result.getRank() - 1));
    return 2 * static_cast<double>(result.getNumElements()) * static_cast<double>(kernel.getNumElements() / features);
  }
  if (op->hasTrait<MovesElements>() || isa<DynamicSliceOp>(op)) return 0;
  return op->getNumResults() == 1 ? static_cast<double>(tensorType(op->getResult(0)).getNumElements()) : 0;
}

double mlir::sgd::estimateSeconds(Operation* op, const CostModel& cost) {
  double bytes = 0;
  for (Value result : op->getResults()) bytes += static_cast<double>(getByteSize(result.getType()));
  if (isa<spmd::CollectiveOpInterface>(op))
    return cost.getTopology().links.back().latency + 2 * bytes / cost.getTopology().links.back().getShare();
  return estimateFlops(op) / cost.getTopology().device.flops + bytes / cost.getTopology().device.memoryBandwidth;
}

double mlir::sgd::estimateNestedSeconds(Operation* op, llvm::function_ref<double(Operation*)> estimate) {
  if (!isa<WhileOp, CaseOp>(op)) return estimate(op);
  double seconds = 0;
  for (Region& region : op->getRegions())
    for (Operation& inner : region.getOps()) seconds += estimateNestedSeconds(&inner, estimate);
  auto loop = dyn_cast<WhileOp>(op);
  return loop ? seconds * static_cast<double>(loop.getTrips().value_or(1)) : seconds;
}
