// The stages of a compilation from level to level, as far as options ask.
#ifndef SGD_COMPILER_LOWERING_H
#define SGD_COMPILER_LOWERING_H

#include "compiler/recipe/requested.h"
#include "compiler/target/target.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sgd {

/// Lowers the module of a compilation in place. All that it refers to outlives it; `timings` may be null. The text that
/// can be replayed from the level of PlanOptions::emit is written to `request`, if the options ask for it.
class Lowering {
 public:
  Lowering(ModuleOp compilation, const Requested& requested, const Target& target, Timings* timings,
           std::string& request)
      : compilation(compilation),
        requested(requested),
        options(requested.options),
        target(target),
        timings(timings),
        request(request) {}

  /// Goes on from the level that programs have `reached`, or, where that is nothing, from behind addReadStage. Returns
  /// whether the plan is reached; else no more than a text was asked for. Fails with an error.
  FailureOr<bool> run(std::optional<EmitLevel> reached);

  /// Whether no more is asked for than the text of `level`, or, where that is nothing, a request as imported.
  bool isDone(std::optional<EmitLevel> level) const;
  /// Writes the request if that of `level` is asked for; nothing is the state as imported.
  void recordRequest(std::optional<EmitLevel> level);

 private:
  LogicalResult runStage(llvm::function_ref<void(OpPassManager&)> add);
  LogicalResult lowerStages(EmitLevel reached);
  LogicalResult lowerSharded(EmitLevel reached);
  LogicalResult lowerLocal(EmitLevel reached);
  LogicalResult planMemory();
  LogicalResult planBy(std::unique_ptr<Pass> search);
  LogicalResult endPlan();
  LogicalResult recordText(EmitLevel level);
  void recordRequestOfSearch();
  bool comparesWithUnsplit() const;
  bool isDoneInSearch() const { return isDone(EmitLevel::Spmd) || isDone(EmitLevel::Kernels); }
  std::string getSearchedText() const;

  ModuleOp compilation;
  const Requested& requested;
  const PlanOptions& options;
  const Target& target;
  Timings* timings;
  std::string& request;
  bool isPlan = false;
};

}  // namespace mlir::sgd

#endif
