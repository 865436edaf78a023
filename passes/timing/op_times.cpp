// Kernels read what is in memory once: the first of their ops that reads a tensor bears it.
#include "passes/timing/op_times.h"

#include "dialects/plan/host_copy.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/clock/rank_clock.h"
#include "passes/cost/message_cost.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/timing/sized_exchange.h"

using namespace mlir;
using namespace mlir::sgd;

/// Smaller values are in registers or caches.
static constexpr int64_t kLeastBytes = 64;

OpTimes::OpTimes(Operation* scope, const CostModel& cost, bool hasOverlap) : cost(cost), hasOverlap(hasOverlap) {
  auto module = dyn_cast<ModuleOp>(scope);
  MeshOp op = getMesh(module ? module : scope->getParentOfType<ModuleOp>());
  if (!op) return;
  mesh = op.getMesh();
  sequential = getActiveSequentialAxis(op);
}

FailureOr<CostModel> mlir::sgd::loadCosts(ModuleOp module, StringRef topologyName) {
  if (MeshOp mesh = getMesh(module)) return loadCostModel(mesh, topologyName);
  llvm::Expected<Topology> topology = loadTopology(topologyName);
  if (!topology) return module.emitError() << llvm::toString(topology.takeError());
  return CostModel(*topology, {});
}

/// Of any level.
static bool runsOthers(Operation* op) { return isControlFlow(op) || isa<plan::LoopOp, plan::CaseOp>(op); }

/// Whether the results of the fused op `op` are its operands or parts of them: a reshape, a barrier.
static bool isView(Operation* op) { return getWork(op).writtenBytes == 0; }

static bool isInKernelOf(Operation* user, Operation* op) { return user->getBlock() == op->getBlock() && isFused(user); }

/// Whether a result of the fused op `op` must be in memory: something else than fused ops of its block reads it.
static bool isMaterialized(Operation* op) {
  return llvm::any_of(op->getUsers(), [&](Operation* user) {
    return !isInKernelOf(user, op) || (isView(user) && isMaterialized(user));
  });
}

/// Whether a kernel reads the operands of `op`: by what it computes of them or, of a view, by ops behind it.
static bool isRead(Operation* op) {
  return !isView(op) ||
         llvm::any_of(op->getUsers(), [&](Operation* user) { return isInKernelOf(user, op) && isRead(user); });
}

/// Whether `op` is the first of the kernel's ops that reads the tensor `operand`, which is in memory.
static bool bearsRead(Operation* op, Value operand) {
  if (getByteSize(operand.getType()) < kLeastBytes) return false;
  Operation* producer = operand.getDefiningOp();
  if (producer && producer->hasTrait<OpTrait::ConstantLike>()) return false;
  if (producer && producer->getBlock() == op->getBlock() && isFused(producer)) return false;
  return isRead(op) && llvm::none_of(operand.getUsers(), [&](Operation* user) {
           return user != op && isInKernelOf(user, op) && user->isBeforeInBlock(op) && isRead(user);
         });
}

/// A buffer is filled for each use outside of kernels: loops write over theirs.
static double getFillSeconds(arith::ConstantOp constant, const CostModel& cost) {
  Work work = getWork(constant);
  if (work == Work()) return 0;
  auto isOutside = [&](Operation* user) { return !isInKernelOf(user, constant); };
  return static_cast<double>(llvm::count_if(constant->getUsers(), isOutside)) * cost.getSeconds(work);
}

double OpTimes::getFused(Operation* op) const {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) return getFillSeconds(constant, cost);
  Work whole = getWork(op), work;
  work.addOperations(whole, 1);
  for (Value operand : llvm::SmallSetVector<Value, 4>(op->operand_begin(), op->operand_end()))
    if (bearsRead(op, operand)) work.readBytes += static_cast<double>(getByteSize(operand.getType()));
  work.readBytes = std::min(work.readBytes, whole.readBytes);
  bool isWritten = !isView(op) && isMaterialized(op);
  if (isWritten) work.writtenBytes = whole.writtenBytes;
  double launch = cost.getTopology().device.launchLatency;
  return cost.getSeconds(work) - (isWritten ? 0 : launch);
}

double OpTimes::getCollective(Operation* op, const Exchange& exchange) const {
  if (sequential && namesAxis(exchange.group, sequential)) return cost.getSeconds(getWork(op));
  return getSizedExchange(exchange, mesh).getSeconds(cost);
}

namespace {
/// Links of a rank beside its compute: what carries collectives, and copies in either direction.
enum Link : unsigned { kCollectives, kToHost, kFromHost, kNumLinks };

/// Launches that follow one another with the same group, as one.
class OpenGroup {
 public:
  /// How much longer the instruction is by `launch`; nullopt where it is one by itself.
  std::optional<double> add(plan::LaunchOp launch, const CostModel& cost) {
    std::optional<int64_t> group = launch ? launch.getGroup() : std::nullopt;
    bool isOpen = group && group == number;
    number = group;
    if (!isOpen) {
      work = group ? getWork(launch) : Work();
      return std::nullopt;
    }
    double before = cost.getSeconds(work);
    return cost.getSeconds(work += getWork(launch)) - before;
  }

 private:
  std::optional<int64_t> number;
  Work work;
};
}  // namespace

double OpTimes::get(Block& block) const {
  RankClock clock(/*numStreams=*/1, kNumLinks);
  OpenGroup group;
  llvm::DenseMap<Operation*, double> ends;  // of what is in flight
  for (Operation& op : block) {
    if (!hasOverlap) {
      clock.run(get(&op));
    } else if (std::optional<double> more = group.add(dyn_cast<plan::LaunchOp>(op), cost)) {
      clock.run(*more);
    } else if (auto copy = dyn_cast<plan::HostCopyOp>(op)) {
      ends[copy] = clock.start(get(copy), copy.isToHost() ? kToHost : kFromHost).end;
    } else if (auto copied = dyn_cast<plan::HostCopiedOp>(op)) {
      clock.waitUntil(ends.lookup(copied.getCopy()));
    } else if (auto done = dyn_cast<plan::DoneOp>(op)) {
      clock.waitUntil(ends.lookup(done.getCollective()));
    } else if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
      double end = ends[collective] = clock.start(get(collective), kCollectives).end;
      if (!collective.getToken()) clock.waitUntil(end);
    } else {
      clock.run(get(&op));
    }
  }
  return clock.getNow();
}

double OpTimes::getNested(Operation* op) const {
  double sum = 0, longest = 0;
  auto add = [&](Block& block) {
    double seconds = get(block);
    sum += seconds;
    longest = std::max(longest, seconds);
  };
  for (Region& region : op->getRegions())
    for (Block& block : region) add(block);
  for (func::FuncOp callee : plan::getCallees(op)) add(callee.front());
  if (isa<CaseOp, plan::CaseOp>(op)) return longest;
  auto loop = dyn_cast<WhileOp>(op);
  return sum * static_cast<double>(loop ? loop.getTrips().value_or(1) : plan::getTrips(op));
}

double OpTimes::get(Operation* op) const {
  if (runsOthers(op)) return getNested(op);
  auto model = dyn_cast<CostOpInterface>(op);
  if (!model) return 0;
  if (auto copy = dyn_cast<plan::HostCopyOp>(op))
    return cost.getHostCopySeconds(static_cast<double>(copy.getCopiedBytes()));
  if (isa<plan::SendOp>(op) && !sharesMemory(cost.getTopology().links.back())) return 0;
  if (std::optional<Exchange> exchange = model.getExchange()) return getCollective(op, *exchange);
  return model.isFused() ? getFused(op) : cost.getSeconds(model.getWork());
}
