// verifyLevel and the pass sgd-verify-level: one walk, one look into the table per kind of op.
#include "dialects/sgd/scalar_body.h"
#include "passes/levels/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_VERIFYLEVELPASS
#include "passes/levels/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr StringLiteral kReport = " (this is a bug of sgdc, please report it)";

/// A stage of the pipeline, and the level that it must end with.
struct Stage {
  StringLiteral name, expected;
};

Stage getStage(Level level) {
  switch (level) {
    case Level::Graph:
      return {"import", "ops of the graph: sgd but reshards, arith and math"};
    case Level::Sharded:
      return {"sharding", "ops of the graph and reshards"};
    case Level::Spmd:
      return {"partitioning", "local ops and collectives"};
    case Level::Kernels:
      return {"fusion", "kernels, library calls, collectives, views and constants"};
    case Level::Plan:
      return {"lowering to the plan", "instructions and kernels"};
  }
  llvm_unreachable("all levels are handled");
}

bool isKernel(Operation* op) {
  StringRef name = op->getName().getStringRef();
  return name == "fusion.cluster" || name == "plan.kernel" || hasScalarBody(op);
}

/// Where an op stands.
enum class Place : uint8_t { Program, ManualComputation, Kernel };

class LevelVerifier {
 public:
  LevelVerifier(Level level, Fault fault) : level(level), fault(fault) {}

  LogicalResult verify(Operation* op, Place place) {
    auto [known, isNew] = rules.try_emplace(op->getName(), nullptr);
    if (isNew) known->second = findLevelRule(op->getName());
    if (failed(place == Place::Kernel ? verifyInKernel(op, known->second) : verifyInProgram(op, known->second, place)))
      return failure();
    if (op->getNumRegions() == 0) return success();
    if (isKernel(op)) place = Place::Kernel;
    if (op->getName().getStringRef() == "sgd.manual_computation") place = Place::ManualComputation;
    for (Region& region : op->getRegions())
      for (Operation& inner : region.getOps())
        if (failed(verify(&inner, place))) return failure();
    return success();
  }

 private:
  LogicalResult verifyInProgram(Operation* op, const LevelRule* rule, Place place) {
    bool isLocal = place == Place::ManualComputation && rule && rule->first == Level::Spmd;
    if (rule && (rule->first <= level || isLocal) && level <= rule->last) return success();
    Stage stage = getStage(level);
    InFlightDiagnostic error = op->emitError() << op->getName();
    if (fault == Fault::Program)
      return error << " is no op of the graph level; expected " << stage.expected
                   << "; write the program in ops of sgd, arith and math, with annotations for shardings";
    if (rule && rule->last < level)
      return error << " is left over after " << stage.name << "; expected " << stage.expected << "; " << rule->removedBy
                   << " should have removed it" << kReport;
    if (rule)
      return error << " is there after " << stage.name << "; expected " << stage.expected << "; no pass before "
                   << getStage(rule->first).name << " may create it" << kReport;
    return error << " is of no level; expected " << stage.expected
                 << "; passes/levels/levels.cpp should say where it may be" << kReport;
  }

  LogicalResult verifyInKernel(Operation* op, const LevelRule* rule) {
    if (rule && rule->firstInKernel && *rule->firstInKernel <= level) return success();
    if (fault == Fault::Program)
      return op->emitError() << op->getName()
                             << " is in a body that computes scalars; expected scalar ops of arith and math; compute "
                                "it outside of the body";
    return op->emitError() << op->getName() << " is in a kernel after " << getStage(level).name
                           << "; expected ops that compute elements; the pass that made the kernel should have left it "
                              "outside"
                           << kReport;
  }

  Level level;
  Fault fault;
  llvm::DenseMap<OperationName, const LevelRule*> rules;
};

struct VerifyLevelPass : mlir::sgd::impl::VerifyLevelPassBase<VerifyLevelPass> {
  using VerifyLevelPassBase::VerifyLevelPassBase;

  void runOnOperation() final {
    if (failed(verifyLevel(getOperation(), level))) return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

}  // namespace

LogicalResult mlir::sgd::verifyLevel(ModuleOp module, Level level, Fault fault) {
  return LevelVerifier(level, fault).verify(module, Place::Program);
}
