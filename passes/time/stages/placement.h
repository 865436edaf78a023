// On which stage each op of a program is: the localized program of one coordinate of the sequential axis, whose
// parameters are on given stages. The IR is only read.
//
// A forward op is on the last stage of the parameters that its operands are computed from, or later where that sends
// fewer bytes. What leads to gradients of earlier stages goes down again: to the stage of the parameter or of the
// activation that it reads, but not below the stage whose gradient it is for. With %w0 on stage 0, %w1 on stage 1:
//
//   %h  = dot_general %x, %w0     0: %x is fed
//   %y  = dot_general %h, %w1     1
//   %dy = ... %y                  1: the loss
//   %g1 = dot_general %h, %dy     1: leads to %w1
//   %dh = dot_general %dy, %w1    1: leads to %w0 alone, but reads %w1
//   %g0 = dot_general %x, %dh     0
#ifndef SGD_PASSES_TIME_STAGES_PLACEMENT_H
#define SGD_PASSES_TIME_STAGES_PLACEMENT_H

#include "llvm/ADT/BitVector.h"
#include "passes/time/stages/program_flow.h"

namespace mlir::sgd {

/// Stages in the order of the forward pass.
using StageSet = llvm::BitVector;

class Placement {
 public:
  /// `stages` has each of the flow's parameters.
  Placement(const ProgramFlow& flow, const DenseMap<Value, unsigned>& stages, unsigned numStages);

  /// The stages that compute `op`: one, or each that needs what any of them can compute for less than sending it.
  const StageSet& get(Operation* op) const { return computing.find(op)->second; }
  /// Whether `op` is computed by each stage that needs it rather than by one that sends it.
  bool isEverywhere(Operation* op) const { return everywhere.contains(op); }
  /// The stages that have `value` without receiving it: those that compute it, or have it as an argument.
  const StageSet& get(Value value) const;
  /// The stages that need `value`.
  const StageSet& getNeeding(Value value) const { return needing.find(value)->second; }
  /// Returns the stages that return a result of the function.
  const StageSet& getReturning(OpOperand& result) const { return returning.find(&result)->second; }
  /// By stage, the bytes of forward values that are sent from it, or one before, to one behind it, in a step.
  SmallVector<int64_t> getForwardBytes() const;

 private:
  static constexpr int kNone = -1;

  void findDepths();
  void findLeads();
  int getLead(Value value) const;
  int getGradientStage(Value value) const;
  int getFixed(Operation* op) const;
  bool isForward(Operation* op) const;
  void placeForward();
  llvm::DenseSet<Operation*> findThrough() const;
  int placeAside(Operation* op, const llvm::DenseSet<Operation*>& through) const;
  void cut(unsigned stage, SmallVectorImpl<Operation*>& open);
  bool isReadAt(Operation* op, int stage) const;
  void placeGraph();
  int placeDescending(Operation* op) const;
  int getStageOfMostBytes(ValueRange values, bool last) const;
  int getUserStage(Value value) const;
  void placeOutside();
  int getStage(Value value) const;
  void findNeeding();
  void need(Value value, const StageSet& by);
  bool isSentSmaller(Operation* op, const StageSet& users) const;
  StageSet one(int stage) const;

  const ProgramFlow& flow;
  unsigned numStages;
  DenseMap<Value, int> given;           // of arguments: parameters, then state
  DenseMap<Operation*, int> depths;     // the last parameter that flows in
  DenseMap<Operation*, int> leads;      // the last one that is still to be read, or whose gradient is to come
  DenseMap<Operation*, int> gradients;  // of ops behind all loops: the first parameter that is updated with them
  DenseMap<Operation*, int> stages;
  DenseMap<Operation*, StageSet> computing;
  llvm::DenseSet<Operation*> everywhere;
  DenseMap<Value, StageSet> needing;
  DenseMap<Value, StageSet> holding;  // arguments
  DenseMap<OpOperand*, StageSet> returning;
};

}  // namespace mlir::sgd

#endif
