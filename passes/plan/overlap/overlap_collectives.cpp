// Chooses the most overlap that memory allows: the order of overlap_schedule.h, else the given one with starts and
// dones in their positions, else no split at all. The memory of each is planned on a copy of the module.
#include "dialects/plan/host_copy.h"
#include "dialects/sgd/decision.h"
#include "mlir/Pass/PassManager.h"
#include "passes/plan/memory/arena_bytes.h"
#include "passes/plan/memory/passes.h"
#include "passes/plan/memory/spaces.h"
#include "passes/plan/overlap/overlap_schedule.h"
#include "passes/plan/overlap/passes.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "passes/plan/overlap/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Memory may peak this part of itself higher than without overlap.
constexpr uint64_t kGrowthDivisor = 64;

Decision describe(const Overlap& overlap) {
  return Decision{.kind = DecisionKind::Overlap,
                  .chosen = "beside compute",
                  .seconds = overlap.seconds,
                  .hiddenSeconds = overlap.hiddenSeconds};
}

/// Replaces it by a copy with a token.
plan::CollectiveOp addToken(plan::CollectiveOp collective) {
  OpBuilder builder(collective);
  auto split = plan::CollectiveOp::create(builder, collective.getLoc(), plan::TokenType::get(collective.getContext()),
                                          collective.getKindAttr(), collective.getReduceAttr(), collective.getSources(),
                                          collective.getTargets(), collective.getStaging(), collective.getDimsAttr(),
                                          collective.getAxesAttr(), collective.getFromAttr(),
                                          collective.getRangesAttr(), collective.getToAttr());
  split->setDiscardableAttrs(collective->getDiscardableAttrDictionary());
  collective.erase();
  return split;
}

bool isWorth(const Overlap& overlap) { return overlap.hiddenSeconds >= kLeastHiddenSeconds; }

/// Reorders and splits, unless nothing is worth it.
void apply(func::FuncOp function, const OverlapOrder& order) {
  if (llvm::none_of(order.overlaps, isWorth)) return;
  for (Operation* op : order.instructions) op->moveBefore(function.front().getTerminator());
  for (const Overlap& overlap : order.overlaps) {
    if (!isWorth(overlap)) continue;
    // The user may be a collective itself; it comes later and is still as it was.
    OpBuilder builder(overlap.firstUser);
    plan::CollectiveOp split = addToken(overlap.collective);
    addDecision(split, describe(overlap));
    plan::DoneOp::create(builder, split.getLoc(), split.getToken());
  }
}

/// Bytes of both spaces and of constants, the module being planned here; nullopt when it cannot be, which the pass of
/// its own reports.
std::optional<uint64_t> planMemory(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createAssignOffsetsPass());
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic&) { return success(); });
  if (failed(passes.run(module))) return std::nullopt;
  uint64_t bytes = getArenaBytes(module);
  module.walk([&](plan::ConstantOp constant) { bytes += getByteSize(constant.getType()); });
  return bytes;
}

struct OverlapCollectivesPass : mlir::sgd::impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  using OverlapCollectivesPassBase::OverlapCollectivesPassBase;
  using Choose = llvm::function_ref<OverlapOrder(const OverlapScheduler&)>;

  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    FailureOr<CostModel> model = loadCostModel(mesh, topologyName);
    if (failed(model)) return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(checkIsPlan(function))) return signalPassFailure();
    times.emplace(getOperation(), *model);
    std::optional<uint64_t> limit;
    for (Choose choose : {Choose(reorder), Choose(keepOrder)}) {
      if (!canSplit(choose)) continue;
      if (!limit) limit = getLimit();
      if (!limit) return;
      OwningOpRef<ModuleOp> trial = getOperation().clone();
      applyTo(*trial, choose);
      std::optional<uint64_t> bytes = planMemory(*trial);
      if (bytes && *bytes <= *limit) return applyTo(getOperation(), choose);
    }
  }

  static OverlapOrder reorder(const OverlapScheduler& scheduler) {
    int64_t alive = scheduler.getPeakAlive();
    return scheduler.reorder(alive + alive / static_cast<int64_t>(kGrowthDivisor));
  }
  static OverlapOrder keepOrder(const OverlapScheduler& scheduler) { return scheduler.keepOrder(); }

  OverlapScheduler getScheduler(func::FuncOp function) {
    // A host copy runs beside what follows.
    return OverlapScheduler(function, [&](Operation* op) { return isa<plan::HostCopyOp>(op) ? 0 : times->get(op); });
  }

  bool canSplit(Choose choose) {
    return llvm::any_of(getOperation().getOps<func::FuncOp>(), [&](func::FuncOp function) {
      return !function.isExternal() && llvm::any_of(choose(getScheduler(function)).overlaps, isWorth);
    });
  }

  void applyTo(ModuleOp module, Choose choose) {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal()) apply(function, choose(getScheduler(function)));
  }

  /// Limit of the plan's memory: a little more than without overlap, but not more than the user allows.
  std::optional<uint64_t> getLimit() {
    OwningOpRef<ModuleOp> unsplit = getOperation().clone();
    std::optional<uint64_t> bytes = planMemory(*unsplit);
    if (!bytes) return std::nullopt;
    uint64_t limit = *bytes + *bytes / kGrowthDivisor;
    return memoryLimit == 0 ? limit : std::min<uint64_t>(limit, memoryLimit);
  }

  std::optional<OpTimes> times;
};

}  // namespace
