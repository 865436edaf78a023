// A function of the plan as a sequence of steps, and a timeline of the sequence as the function's new body.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_PLAN_STEPS_H
#define SGD_PASSES_PLAN_RECOMPUTE_PLAN_STEPS_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/plan/recompute/timeline.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// The kinds of values that may be in the host's memory.
struct OffloadScope {
  bool activations = false;  ///< what a program makes
  bool states = false;       ///< what it is given and hands on to its next step, see getOwnStates
};

/// The arguments of `function` that its next step gets from it in their place, and that no other program of the same
/// ranks has.
llvm::DenseSet<Value> getOwnStates(func::FuncOp function);

/// Before buffers are shared: every value has a buffer of its own.
class PlanSteps {
 public:
  /// `times` are of the function's module, as are `kernels`.
  PlanSteps(func::FuncOp function, const OpTimes& times, const SymbolTable& kernels, OffloadScope scope = {});

  const remat::StepSequence& getSequence() const { return sequence; }

  Operation* getOp(unsigned step) const { return ops[step]; }

  /// Puts the function's instructions in the order of `timeline`, with copies of those that it repeats, which get
  /// DecisionKind::Recompute, and copies between device and host.
  void apply(const remat::Timeline& timeline) const;

 private:
  void addBuffers();
  void addHostCopies(OffloadScope scope);
  void addStep(Operation* op);
  void addInPlace(plan::LaunchOp launch, remat::Step& step);
  bool isRepeatable(Operation* op) const;
  int64_t getScratchBytes(Operation* op) const;
  std::optional<unsigned> getBuffer(Value buffer) const;

  func::FuncOp function;
  const OpTimes& times;
  const SymbolTable& kernels;
  remat::StepSequence sequence;
  SmallVector<Operation*, 0> ops;  // by step
  SmallVector<Value, 0> roots;     // by buffer: argument, alloc or constant
  llvm::DenseMap<Value, unsigned> numbers;
};

}  // namespace mlir::sgd

#endif
