// The pass sgd-check-compression.
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/programs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CHECKCOMPRESSIONPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult checkAxis(ArrayRef<ModuleOp> programs, StringRef axis) {
  std::string why = "no program adds up values over it";
  for (ModuleOp program : programs)
    for (auto function : program.getOps<func::FuncOp>())
      for (const Decision& decision : getDecisions(function, DecisionKind::Compression)) {
        if (!llvm::is_contained(decision.axes, axis)) continue;
        if (!decision.chosen.empty()) return success();
        why = (decision.source.empty() ? "" : decision.source + ": ") + decision.why;
      }
  return emitError(UnknownLoc::get(ModuleOp(programs.front()).getContext()))
         << "field 'compress." << axis << "' compresses nothing: " << why
         << "; expected a gradient that is added up over the axis, or no such field";
}

namespace {
struct CheckCompressionPass : mlir::sgd::impl::CheckCompressionPassBase<CheckCompressionPass> {
  using CheckCompressionPassBase::CheckCompressionPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe) return;
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    for (const RecipeCompression& compression : requested->recipe->compress)
      if (*getMesh(programs.front()).getMesh().getAxisSize(compression.axis) > 1 &&
          failed(checkAxis(programs, compression.axis)))
        return signalPassFailure();
  }
};
}  // namespace
