// Several ways to lower one compilation: copies of its module go through stages, and the best one replaces it.
#ifndef SGD_COMPILER_SEARCH_ALTERNATIVES_H
#define SGD_COMPILER_SEARCH_ALTERNATIVES_H

#include <functional>
#include <memory>
#include <vector>

#include "compiler/recipe/requested.h"
#include "compiler/target/target.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sgd {

/// The measures by which alternatives are compared.
struct PlanCost {
  uint64_t peak = 0;   ///< bytes of a rank
  double seconds = 0;  ///< estimate of a step

  bool fits(std::optional<uint64_t> limit) const { return !limit || peak <= *limit; }
  /// One that fits precedes one that does not. Of two that fit, this one must take less than `part` of the other's
  /// time; of two that do not, it must be smaller.
  bool isBetterThan(const PlanCost& other, std::optional<uint64_t> limit, double part = 1) const;
};

/// The diagnostics of an alternative, held until it is chosen.
class HeldDiagnostics {
 public:
  HeldDiagnostics() = default;
  /// Holds those of `run`.
  HeldDiagnostics(MLIRContext* context, llvm::function_ref<void()> run);

  bool empty() const { return diagnostics.empty(); }
  /// Emits what was held.
  void emit(MLIRContext* context);

 private:
  std::vector<Diagnostic> diagnostics;
};

/// Adds the dialects, and their extensions, of all stages behind sharding: a pass that runs pipelines declares those of
/// their passes.
void addDialectsOfStages(DialectRegistry& registry);

/// Lowers alternatives inside of the pass that compares them. The stages run on the pass's own operation, with the
/// contents of an alternative in it meanwhile: so instrumentations of the pass manager see every pass.
class Alternatives {
 public:
  /// Runs a pipeline on the operation of the pass: Pass::runPipeline.
  using Runner = std::function<LogicalResult(OpPassManager&)>;

  /// Options and target are those of the request of `compilation`, the pass's operation; `text` is the level whose text
  /// is noted, or empty. Fails with an error.
  static FailureOr<Alternatives> create(ModuleOp compilation, StringRef text, Runner run);

  const PlanOptions& getOptions() const { return requested.options; }
  const Target& getTarget() const { return *target; }
  MLIRContext* getContext() const { return compilation->getContext(); }

  /// The contents of the compilation, which is empty until choose().
  OwningOpRef<ModuleOp> take() const;
  /// Gives the compilation the contents of `best`.
  void choose(OwningOpRef<ModuleOp> best) const;

  /// Runs passes on `alternative` without verifying it.
  LogicalResult run(ModuleOp alternative, llvm::function_ref<void(OpPassManager&)> add) const;
  /// Runs passes on `alternative`, then verifies it.
  LogicalResult runStage(ModuleOp alternative, llvm::function_ref<void(OpPassManager&)> add) const;
  /// From the SPMD level to one module with buffers. `packsWeights`: see addKernelStage.
  LogicalResult lowerToBuffers(ModuleOp alternative, bool packsWeights) const;
  /// From the SPMD level before communication is hidden to one module with buffers, as without a memory limit.
  LogicalResult hideAndLower(ModuleOp alternative) const;
  /// From buffers to a plan, whatever the memory limit is.
  LogicalResult planMemory(ModuleOp alternative) const;

 private:
  Alternatives(ModuleOp compilation, Requested requested, std::unique_ptr<Target> target, Runner runPipeline)
      : compilation(compilation),
        requested(std::move(requested)),
        target(std::move(target)),
        runPipeline(std::move(runPipeline)) {}

  ModuleOp compilation;
  Requested requested;
  std::unique_ptr<Target> target;
  Runner runPipeline;
};

}  // namespace mlir::sgd

#endif
