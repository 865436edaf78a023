// The pass sgd-print-times: a remark for each program.
#include "llvm/Support/Format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/timing/op_times.h"
#include "passes/timing/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PRINTTIMESPASS
#include "passes/timing/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct PrintTimesPass : mlir::sgd::impl::PrintTimesPassBase<PrintTimesPass> {
  using PrintTimesPassBase::PrintTimesPassBase;

  void runOnOperation() override {
    FailureOr<CostModel> cost = loadCosts(getOperation(), topologyName);
    if (failed(cost)) return signalPassFailure();
    const OpTimes times(getOperation(), *cost, /*hasOverlap=*/false);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.isPrivate()) print(function, times);
  }

  void print(func::FuncOp function, const OpTimes& times) {
    for (Operation& op : function.front())
      if (double seconds = times.get(&op); printOps && seconds > 0)
        emitRemark(op.getLoc()) << op.getName() << ": " << format(seconds);
    emitRemark(function.getLoc()) << function.getName() << ": " << format(times.get(function.front()));
  }

  static std::string format(double seconds) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.4g", seconds * 1e6) << " us";
    return text;
  }
};
}  // namespace
