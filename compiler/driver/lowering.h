// A compilation on its way from imported programs to a plan of memory.
#ifndef SGD_COMPILER_LOWERING_H
#define SGD_COMPILER_LOWERING_H

#include "compiler/driver/diagnostics.h"
#include "compiler/driver/fit_memory.h"
#include "compiler/recipe/plan_options.h"
#include "compiler/request/request.h"
#include "compiler/target/target.h"
#include "compiler/timings.h"
#include "dialects/sgd/programs.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sgd {

/// What a lowering refers to; all outlive it. `timings` may be null.
struct LoweringContext {
  const PlanOptions& options;
  const Target& target;
  ArrayRef<RequestedProgram> programs;
  DiagnosticPrinter& printer;
  Timings* timings;
};

/// The text of a level, and of a request that can be replayed from it.
struct EmittedText {
  std::string programs;  ///< for people: the programs, one after another
  std::string request;   ///< for `sgd-opt --replay`: the compilation with its request and all locations
};

/// Each step changes the compilation in place, and fails with an error.
class Lowering {
 public:
  Lowering(const LoweringContext& context, OwningOpRef<ModuleOp> compilation)
      : context(context), compilation(std::move(compilation)) {}

  OwningOpRef<ModuleOp> take() { return std::move(compilation); }
  ModuleOp getCompilation() const { return const_cast<OwningOpRef<ModuleOp>&>(compilation).get(); }
  SmallVector<ModuleOp> getPrograms() const { return sgd::getPrograms(getCompilation()); }
  /// The text of PlanOptions::emit, once that level is reached.
  const EmittedText& getEmitted() const { return emitted; }
  /// The same once more, without times.
  Lowering clone() const;
  void setTimings(Timings* timings) { context.timings = timings; }

  /// Runs passes on the compilation, then verifies it. Diagnostics without a location name the file of their program.
  LogicalResult runStage(llvm::function_ref<void(OpPassManager&)> add);
  /// Prints the compilation if `level` is asked for; nothing is the state as imported.
  void emit(std::optional<EmitLevel> level);

  /// From one coordinate of the sequential axis (addLocalizeStage): stages and loops.
  LogicalResult formStages();
  /// From the SPMD level to the same, with communication hidden.
  LogicalResult hideCommunication();
  LogicalResult lowerToKernels();
  /// Programs become one module.
  LogicalResult lowerToBuffers();
  /// Within the limit of the options, if there is one.
  LogicalResult planMemory();
  /// Whatever the limit is.
  LogicalResult planMemoryAsIs();

 private:
  struct Form;

  LogicalResult planWithinLimit();
  FailureOr<FormPlan> plan(ArrayRef<ModuleOp> forms, Effort effort = Effort::Limit) const;
  bool fits(const MemoryPlan& plan) const;
  LogicalResult lowerAgain(llvm::function_ref<void(OpPassManager&)> change);
  LogicalResult addLoopForms(SmallVectorImpl<Form>& forms);

  LoweringContext context;
  OwningOpRef<ModuleOp> compilation;
  OwningOpRef<ModuleOp> local;  // before communication is hidden, to be lowered again when memory is short
  EmittedText emitted;
};

}  // namespace mlir::sgd

#endif
