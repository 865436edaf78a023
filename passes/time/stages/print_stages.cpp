// The pass sgd-print-stages: one remark per argument and op.
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/stages/balance.h"
#include "passes/time/stages/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PRINTSTAGESPASS
#include "passes/time/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static std::string toText(const StageSet& set) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(set.set_bits(), os, ",");
  return text;
}

/// Stages that need `value` and receive it.
static std::string getReceivers(const Placement& placement, Value value) {
  StageSet receivers = placement.getNeeding(value);
  receivers.reset(placement.get(value));
  return receivers.any() ? ", sent to " + toText(receivers) : "";
}

namespace {
struct PrintStagesPass : mlir::sgd::impl::PrintStagesPassBase<PrintStagesPass> {
  using PrintStagesPassBase::PrintStagesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    FailureOr<CostModel> cost = loadCostModel(mesh, topology);
    if (failed(cost)) return signalPassFailure();
    const OpTimes times(getOperation(), *cost);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      MeshAxisAttr axis = getActiveSequentialAxis(mesh);
      LoopSchedule loops(function, mesh ? mesh.getMesh() : MeshAttr(), axis);
      ProgramFlow flow(function, loops, axis, DenseMap<Value, unsigned>());
      print(Placement(flow, placeParameters(flow, DenseMap<Value, unsigned>(), stages, getPieces(flow, times)), stages),
            function);
    }
  }

  static void print(const Placement& placement, func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      emitRemark(argument.getLoc()) << "argument " << argument.getArgNumber() << " on stage "
                                    << toText(placement.get(argument)) << getReceivers(placement, argument);
    for (Operation& op : function.front().without_terminator()) {
      if (op.getNumResults() == 0 || isa<arith::ConstantOp>(op)) continue;
      std::string on = toText(placement.get(&op));
      op.emitRemark() << (on.empty() ? "on no stage" : "on stage " + on) << getReceivers(placement, op.getResult(0));
    }
  }
};
}  // namespace
