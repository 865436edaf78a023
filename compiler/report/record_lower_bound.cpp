// The pass sgd-record-lower-bound.
#include "compiler/bound/lower_bound.h"
#include "compiler/report/passes.h"
#include "compiler/report/report.h"
#include "dialects/sgd/programs.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECORDLOWERBOUNDPASS
#include "compiler/report/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct RecordLowerBoundPass : mlir::sgd::impl::RecordLowerBoundPassBase<RecordLowerBoundPass> {
  using RecordLowerBoundPassBase::RecordLowerBoundPassBase;

  void runOnOperation() override {
    func::FuncOp reported = getReportedFunction(getPrograms(getOperation()));
    if (!reported) return;
    // Later stages fold some ops to constants (x - x, a choice between equal values): fold first.
    OwningOpRef<ModuleOp> folded = reported->getParentOfType<ModuleOp>().clone();
    (void)applyPatternsGreedily(folded.get(), RewritePatternSet(&getContext()));
    LowerBound bound = computeLowerBound(folded->lookupSymbol<func::FuncOp>(reported.getName()));
    getOperation()->setAttr(kLowerBoundAttr, bound.toAttr(&getContext()));
  }
};
}  // namespace
