// All of a program as a pipeline: placement, slots, schedules, what each stage does, and the channels between stages.
#ifndef SGD_PASSES_TIME_STAGES_PIPELINE_PLAN_H
#define SGD_PASSES_TIME_STAGES_PIPELINE_PLAN_H

#include "passes/time/stages/message_times.h"
#include "passes/time/stages/stage_plan.h"

namespace mlir::sgd {

/// From the stage that has a value to one that needs it.
struct ChannelPlan {
  unsigned number = 0;
  unsigned depth = 1;  ///< the most parts on the way
};

class PipelinePlan {
 public:
  /// `stages` has the virtual stage of each parameter. An error where the schedule has no order for so many parts.
  static llvm::Expected<std::unique_ptr<PipelinePlan>> create(const ProgramFlow& flow,
                                                              const DenseMap<Value, unsigned>& stages,
                                                              const PipelineForm& form, unsigned numParts,
                                                              const OpTimes& times);

  const ProgramFlow& getFlow() const { return flow; }
  const Placement& getPlacement() const { return *placement; }
  const PipelineForm& getForm() const { return form; }
  ArrayRef<LoopPlan> getLoops() const { return loops; }
  const StagePlan& getStage(unsigned stage) const { return stages[stage]; }
  unsigned getNumParts() const { return numParts; }

  /// The stages that have `value` by themselves, and those that receive it.
  StageSet getHaving(Value value) const { return toStages(form, placement->get(value)); }
  StageSet getReceiving(Value value) const;
  unsigned getSender(Value value) const { return getHaving(value).find_first(); }
  /// Whether `stage` receives `value` once for each part rather than once.
  bool isReceivedInParts(Value value, unsigned stage) const { return stages[stage].hasHome(value); }
  ChannelPlan getChannel(Value value, unsigned stage) const { return channels.find({value, stage})->second; }

  /// Says where stages store more parts than 1F1B needs, so that messages are hidden.
  void remarkAhead() const;

  /// Seconds of the loops of a step, and by stage how long it computes in them.
  const PipelineTimes& getTimes() const { return times; }

 private:
  PipelinePlan(const ProgramFlow& flow, const PipelineForm& form, unsigned numParts)
      : flow(flow), form(form), numParts(numParts) {}

  llvm::Error schedule(const OpTimes& opTimes);
  void addMessages(const OpTimes& opTimes);
  void addChannels(Value value);

  const ProgramFlow& flow;
  PipelineForm form;
  unsigned numParts;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<RepeatCosts> costs;
  std::vector<LoopPlan> loops;
  std::vector<StagePlan> stages;
  DenseMap<std::pair<Value, unsigned>, ChannelPlan> channels;  // by value and receiver
  PipelineTimes times;
};

}  // namespace mlir::sgd

#endif
