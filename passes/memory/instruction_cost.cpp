// Roofline for compute, alpha-beta for collectives; two clocks where they overlap.
#include "passes/memory/instruction_cost.h"

#include "dialects/plan/attention.h"
#include "dialects/plan/host_copy.h"
#include "passes/cost/message_cost.h"
#include "passes/partition/ranges.h"
#include "passes/partition/sharding_state.h"
#include "runtime/comm/sent_bytes.h"

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
  if (::sgd::comm::TraitsOf(collective.getKind()).target == ::sgd::comm::TargetForm::kRange)
    return getRangeBytes(collective);
  uint64_t bytes = 0;
  for (Value buffer :
       ::sgd::comm::CountsResults(collective.getKind()) ? collective.getTargets() : collective.getSources())
    bytes += getByteSize(cast<MemRefType>(buffer.getType()));
  return bytes;
}

static double getCollectiveSeconds(const CostModel& cost, MeshAttr mesh, plan::CollectiveOp collective) {
  return cost.getCollectiveSeconds(collective.getKind(), getParts(mesh, collective.getAxes().getAxes()),
                                   getCountedBytes(collective));
}

/// Of a loop all trips, of branches the longest.
static double getCalleeSeconds(const CostModel& cost, MeshAttr mesh, Operation* op) {
  double sum = 0, longest = 0;
  for (func::FuncOp callee : plan::getCallees(op)) {
    double seconds = getSeconds(cost, mesh, callee);
    sum += seconds;
    longest = std::max(longest, seconds);
  }
  return isa<plan::CaseOp>(op) ? longest : sum * static_cast<double>(plan::getTrips(op));
}

double mlir::sgd::getTransitSeconds(const CostModel& cost, int64_t from, plan::SendOp send) {
  auto bytes = static_cast<double>(getByteSize(send.getSource().getType()));
  return getTransitSeconds(cost, from, static_cast<int64_t>(send.getStage()), bytes);
}

double mlir::sgd::getSeconds(const CostModel& cost, MeshAttr mesh, Operation* op) {
  auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
  if (!instruction) return 0;
  if (isa<plan::SendOp>(op) && !sharesMemory(cost.getTopology().links.back())) return 0;  // beside the rank's work
  switch (instruction.getCostClass()) {
    case plan::CostClass::Wait:
      return 0;
    case plan::CostClass::Collective:
      return getCollectiveSeconds(cost, mesh, cast<plan::CollectiveOp>(op));
    case plan::CostClass::HostCopy:
      return cost.getHostCopySeconds(static_cast<double>(cast<plan::HostCopyOp>(op).getCopiedBytes()));
    case plan::CostClass::Control:
      return getCalleeSeconds(cost, mesh, op);
    case plan::CostClass::Library:
      if (isa<plan::AttentionOp, plan::AttentionGradientOp>(op))
        return cost.getAttentionSeconds(static_cast<double>(instruction.getFlops()),
                                        static_cast<double>(instruction.getTouchedBytes()));
      [[fallthrough]];
    case plan::CostClass::Kernel:
    case plan::CostClass::Transfer:
      return cost.getOpSeconds(static_cast<double>(instruction.getFlops()),
                               static_cast<double>(instruction.getTouchedBytes()), instruction.isHalfPrecision());
  }
  llvm_unreachable("all classes are handled");
}

namespace {

/// When each instruction of a function ends: compute and what is in flight beside it.
class Clocks {
 public:
  void run(Operation* op, double seconds) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
      begin(op, linkIsFree, seconds);
      if (!collective.getToken()) now = linkIsFree;
    } else if (auto copy = dyn_cast<plan::HostCopyOp>(op)) {
      begin(op, copy.isToHost() ? isFreeToHost : isFreeFromHost, seconds);
    } else if (auto done = dyn_cast<plan::DoneOp>(op)) {
      now = std::max(now, ends.lookup(done.getCollective()));
    } else if (auto copied = dyn_cast<plan::HostCopiedOp>(op)) {
      hostWait += std::max(0.0, ends.lookup(copied.getCopy()) - now);
      now = std::max(now, ends.lookup(copied.getCopy()));
    } else {
      now += seconds;
    }
  }

  double getNow() const { return now; }
  double getHostWait() const { return hostWait; }

 private:
  /// On a link, after what is in flight there.
  void begin(Operation* op, double& isFree, double seconds) { ends[op] = isFree = std::max(now, isFree) + seconds; }

  double now = 0, hostWait = 0, linkIsFree = 0, isFreeToHost = 0, isFreeFromHost = 0;
  llvm::DenseMap<Operation*, double> ends;
};

}  // namespace

static Clocks runAll(const CostModel& cost, MeshAttr mesh, func::FuncOp function) {
  Clocks clocks;
  for (Operation& op : function.front()) clocks.run(&op, getSeconds(cost, mesh, &op));
  return clocks;
}

double mlir::sgd::getSeconds(const CostModel& cost, MeshAttr mesh, func::FuncOp function) {
  return runAll(cost, mesh, function).getNow();
}

double mlir::sgd::getHostWaitSeconds(const CostModel& cost, MeshAttr mesh, func::FuncOp function) {
  return runAll(cost, mesh, function).getHostWait();
}
