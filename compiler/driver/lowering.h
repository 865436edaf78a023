// Programs on their way from the SPMD level to a plan of memory.
#ifndef SGD_COMPILER_LOWERING_H
#define SGD_COMPILER_LOWERING_H

#include "compiler/driver/diagnostics.h"
#include "compiler/driver/files.h"
#include "compiler/driver/fit_memory.h"
#include "compiler/options.h"
#include "compiler/target/target.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sgd {

/// What a lowering refers to; all outlive it. `timings` may be null.
struct LoweringContext {
  const CompileOptions& options;
  const Target& target;
  ArrayRef<ProgramSource> sources;
  DiagnosticPrinter& printer;
  Timings* timings;
};

/// Each step changes the programs in place, and fails with an error.
class Lowering {
 public:
  using Programs = std::vector<OwningOpRef<ModuleOp>>;

  Lowering(const LoweringContext& context, Programs programs) : context(context), programs(std::move(programs)) {}

  Programs& getPrograms() { return programs; }
  SmallVector<ModuleOp> getModules() const;
  /// The text of CompileOptions::emit, once that level is reached.
  const std::string& getEmitted() const { return emitted; }
  /// The same programs once more, without times.
  Lowering clone() const;
  void setTimings(Timings* timings) { context.timings = timings; }

  /// Runs passes on each program, then verifies it.
  LogicalResult runStage(llvm::function_ref<void(PassManager&)> add);
  /// Prints the programs if `level` is asked for.
  void emit(EmitLevel level);

  /// From one coordinate of the sequential axis (addLocalizeStage): stages and loops.
  LogicalResult formStages();
  /// From the SPMD level to the same, with communication hidden.
  LogicalResult hideCommunication();
  /// `packsWeights`: weights of loops are held a second time, as matmuls read them fastest.
  LogicalResult lowerToKernels(bool packsWeights = true);
  /// Programs become one module.
  LogicalResult lowerToBuffers();
  /// Within the limit of the options, if there is one.
  LogicalResult planMemory();
  /// Whatever the limit is.
  LogicalResult planMemoryAsIs();

 private:
  struct Form;

  LogicalResult planWithinLimit();
  FailureOr<FormPlan> plan(ArrayRef<ModuleOp> forms) const;
  bool fits(const MemoryPlan& plan) const;
  LogicalResult lowerAgain(llvm::function_ref<void(PassManager&)> change);
  LogicalResult addLoopForms(SmallVectorImpl<Form>& forms);

  LoweringContext context;
  Programs programs;
  Programs local;  // before communication is hidden, to be lowered again when memory is short
  std::string emitted;
};

}  // namespace mlir::sgd

#endif
