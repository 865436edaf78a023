// Joins independent launches that follow one another, so that they are handed to the threads at once. Works after
// buffers are shared: what is updated in place is known, and lifetimes no longer decide that.
#include "passes/plan/memory/lifetimes.h"
#include "passes/plan/memory/spaces.h"
#include "passes/plan/overlap/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_GROUPLAUNCHESPASS
#include "passes/plan/overlap/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using plan::Space;

namespace {

/// Bytes of private memory, of window memory and of both: private values may be in idle parts of the window.
using Bytes = std::array<int64_t, 3>;

/// The buffers that are alive while each instruction of a function runs.
class Occupancy {
 public:
  Occupancy(func::FuncOp function, const BufferUses& uses) {
    begun.resize(uses.getEnd() + 1);
    std::vector<Bytes> change(uses.getEnd() + 2);
    auto add = [&](Value root) {
      Space space = plan::getSpace(root.getType());
      if (space != Space::Private && space != Space::Window) return;
      int64_t bytes = getByteSize(cast<MemRefType>(root.getType()));
      for (size_t kind : {static_cast<size_t>(space), size_t{2}})
        for (const memory::Lifetime& lifetime : uses.getLifetimes(root)) {
          if (lifetime.first >= 0) begun[lifetime.first][kind] += bytes;
          change[std::max<int64_t>(lifetime.first, 0)][kind] += bytes;
          change[lifetime.last + 1][kind] -= bytes;
        }
    };
    for (Value argument : function.getArguments()) add(argument);
    for (auto alloc : function.getOps<plan::AllocOp>()) add(alloc);
    Bytes now = {};
    for (const Bytes& step : ArrayRef(change).drop_back()) {
      for (size_t kind = 0; kind < now.size(); ++kind) peak[kind] = std::max(peak[kind], now[kind] += step[kind]);
      alive.push_back(now);
    }
  }

  std::vector<Bytes> alive, begun;  // by position
  Bytes peak = {};
};

class LaunchGrouper {
 public:
  LaunchGrouper(func::FuncOp function, const SymbolTable& kernels, int64_t& groups)
      : function(function), uses(function, kernels), occupancy(function, uses), groups(groups) {}

  void run() {
    for (Operation& op : function.front()) {
      if (!isa<plan::InstructionOpInterface>(op) && !op.hasTrait<OpTrait::IsTerminator>()) continue;
      auto launch = dyn_cast<plan::LaunchOp>(op);
      if (!launch || !isIndependent(launch) || !fits(launch)) close();
      if (launch) add(launch);
    }
  }

 private:
  bool isIndependent(plan::LaunchOp launch) const {
    auto isWritten = [&](Value buffer) { return written.contains(plan::getRoot(buffer).root); };
    auto isTouched = [&](Value buffer) { return isWritten(buffer) || read.contains(plan::getRoot(buffer).root); };
    return llvm::none_of(launch.getInputs(), isWritten) && llvm::none_of(launch.getOutputs(), isTouched);
  }

  bool fits(plan::LaunchOp launch) const {
    if (open.empty()) return true;
    const Bytes& more = occupancy.begun[uses.getPosition(launch)];
    for (size_t kind = 0; kind < more.size(); ++kind)
      if (alive[kind] + more[kind] > occupancy.peak[kind]) return false;
    return true;
  }

  void add(plan::LaunchOp launch) {
    int64_t position = uses.getPosition(launch);
    if (open.empty())
      alive = occupancy.alive[position];
    else
      for (size_t kind = 0; kind < alive.size(); ++kind) alive[kind] += occupancy.begun[position][kind];
    open.push_back(launch);
    for (Value input : launch.getInputs()) read.insert(plan::getRoot(input).root);
    for (Value output : launch.getOutputs()) written.insert(plan::getRoot(output).root);
  }

  void close() {
    if (open.size() > 1) {
      for (plan::LaunchOp launch : open) launch.setGroup(groups);
      ++groups;
    }
    open.clear();
    read.clear();
    written.clear();
  }

  func::FuncOp function;
  BufferUses uses;
  Occupancy occupancy;
  int64_t& groups;  // so far, of the module
  SmallVector<plan::LaunchOp> open;
  llvm::DenseSet<Value> read, written;
  Bytes alive = {};  // while the open group runs
};

struct GroupLaunchesPass : mlir::sgd::impl::GroupLaunchesPassBase<GroupLaunchesPass> {
  void runOnOperation() final {
    SymbolTable kernels(getOperation());
    int64_t groups = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (failed(checkIsPlan(function))) return signalPassFailure();
      LaunchGrouper(function, kernels, groups).run();
    }
  }
};

}  // namespace
