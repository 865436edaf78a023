// The pipeline of a program, by the schedule and the stages that it names.
#ifndef SGD_PASSES_TIME_STAGES_PLAN_PROGRAM_H
#define SGD_PASSES_TIME_STAGES_PLAN_PROGRAM_H

#include "passes/time/stages/pipeline_plan.h"

namespace mlir::sgd {

/// The plan of a function, and all that it refers to.
class ProgramPlan {
 public:
  ProgramPlan(func::FuncOp function, MeshOp mesh);

  const LoopSchedule& getLoops() const { return loops; }
  const PipelinePlan& get() const { return *plan; }

  /// By the schedule that the mesh names (`sgd.schedule`); of several, the first of getScheduleChoices. Fails with an
  /// error.
  LogicalResult create(MeshOp mesh, const OpTimes& times);
  /// The same stages of parameters and the same schedule as `before`, of the same function as it was.
  LogicalResult createAs(const ProgramPlan& before, const OpTimes& times);

 private:
  /// Whether arguments are on some of the virtual stages of `form`.
  LogicalResult checkGiven(const PipelineForm& form);
  LogicalResult create(const PipelineForm& form, const OpTimes& times);

  unsigned getNumParts() const { return static_cast<unsigned>(axis ? axis.getSize() : 1); }

  func::FuncOp function;
  MeshAxisAttr axis;
  DenseMap<Value, unsigned> given;  // virtual stages of arguments that have `sgd.stage`
  LoopSchedule loops;
  ProgramFlow flow;
  DenseMap<Value, unsigned> stages;  // by parameter
  std::unique_ptr<PipelinePlan> plan;
};

}  // namespace mlir::sgd

#endif
