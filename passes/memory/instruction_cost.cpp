// Roofline for compute, alpha-beta for collectives; two clocks where they overlap.
#include "passes/memory/instruction_cost.h"

#include "dialects/plan/attention.h"
#include "dialects/plan/linear_algebra.h"
#include "passes/partition/ranges.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

static uint64_t getRangeBytes(plan::CollectiveOp collective) {
  MeshAttr mesh = lookupMesh(collective, collective.getAxes().getMesh());
  auto tiles = getParts(mesh, collective.getAxes().getAxes()), results = getParts(mesh, collective.getTo()->getAxes());
  SmallVector<RangeLoad> loads;
  for (auto [range, source, target] :
       llvm::zip(collective.getRanges()->getAsRange<RangeAttr>(), collective.getSources(), collective.getTargets()))
    loads.push_back(getRangeLoad(range, cast<MemRefType>(source.getType()), cast<MemRefType>(target.getType())));
  return CostModel::getMostSentBytes(getMeshSizes(mesh), tiles, results, loads);
}

uint64_t mlir::sgd::getCountedBytes(plan::CollectiveOp collective) {
  if (collective.getKind() == plan::CollectiveKind::GatherRange) return getRangeBytes(collective);
  uint64_t bytes = 0;
  bool countsResult = collective.getKind() == plan::CollectiveKind::AllGather;
  for (Value buffer : countsResult ? collective.getTargets() : collective.getSources())
    bytes += plan::getByteSize(cast<MemRefType>(buffer.getType()));
  return bytes;
}

double mlir::sgd::getSeconds(const CostModel& cost, MeshAttr mesh, Operation* op) {
  if (isa<plan::AllocOp, plan::ConstantOp, plan::ViewOp, plan::DoneOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return 0;
  if (auto collective = dyn_cast<plan::CollectiveOp>(op))
    return cost.getCollectiveSeconds(static_cast<CollectiveKind>(collective.getKind()),
                                     getParts(mesh, collective.getAxes().getAxes()), getCountedBytes(collective));
  if (auto loop = dyn_cast<plan::LoopOp>(op)) {
    double seconds = 0;
    for (func::FuncOp callee : plan::getCallees(op)) seconds += getSeconds(cost, mesh, callee);
    return seconds * static_cast<double>(loop.getTrips().value_or(1));
  }
  if (isa<plan::CaseOp>(op)) {
    double seconds = 0;
    for (func::FuncOp callee : plan::getCallees(op)) seconds = std::max(seconds, getSeconds(cost, mesh, callee));
    return seconds;
  }
  if (auto launch = dyn_cast<plan::LaunchOp>(op))
    return cost.getOpSeconds(launch.getFlops(), static_cast<double>(launch.getTouchedBytes()));
  if (auto matmul = dyn_cast<plan::MatmulOp>(op))
    return cost.getOpSeconds(matmul.getFlops(), matmul.getTouchedBytes(),
                             matmul.getA().getType().getElementTypeBitWidth() == 16);
  double bytes = 0;
  for (Value operand : op->getOperands()) bytes += plan::getByteSize(cast<MemRefType>(operand.getType()));
  if (auto convolution = dyn_cast<plan::ConvolutionOp>(op)) return cost.getOpSeconds(convolution.getFlops(), bytes);
  if (auto attention = dyn_cast<plan::AttentionOp>(op))
    return cost.getOpSeconds(attention.getFlops(), bytes, /*isHalf=*/true);
  if (auto gradient = dyn_cast<plan::AttentionGradientOp>(op))
    return cost.getOpSeconds(gradient.getFlops(), bytes, /*isHalf=*/true);
  if (auto call = dyn_cast<plan::LinearAlgebraOp>(op)) return cost.getOpSeconds(call.getFlops(), bytes);
  if (auto tiled = dyn_cast<plan::TiledOp>(op)) return cost.getOpSeconds(tiled.getFlops(), bytes);
  return cost.getOpSeconds(0, bytes);
}

double mlir::sgd::getSeconds(const CostModel& cost, MeshAttr mesh, func::FuncOp function) {
  double now = 0, linkIsFree = 0;
  llvm::DenseMap<Operation*, double> ends;
  for (Operation& op : function.front()) {
    double seconds = getSeconds(cost, mesh, &op);
    auto collective = dyn_cast<plan::CollectiveOp>(op);
    if (collective) {
      linkIsFree = std::max(now, linkIsFree) + seconds;
      if (!collective.getToken()) now = linkIsFree;
      ends[&op] = linkIsFree;
    } else if (auto done = dyn_cast<plan::DoneOp>(op)) {
      now = std::max(now, ends.lookup(done.getCollective()));
    } else {
      now += seconds;
    }
  }
  return now;
}
