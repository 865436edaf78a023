// One after the other: ops, slots, stages, schedules, channels.
#include "passes/time/stages/pipeline_plan.h"

using namespace mlir;
using namespace mlir::sgd;

llvm::Expected<std::unique_ptr<PipelinePlan>> PipelinePlan::create(const ProgramFlow& flow,
                                                                   const DenseMap<Value, unsigned>& stages,
                                                                   const PipelineForm& form, unsigned numParts,
                                                                   const OpTimes& times) {
  std::unique_ptr<PipelinePlan> plan(new PipelinePlan(flow, form, numParts));
  plan->placement = std::make_unique<Placement>(flow, stages, form.getNumVirtualStages());
  for (unsigned loop = 0; loop < flow.getLoops().getNumLoops(); ++loop)
    plan->loops.push_back({formSlots(flow, *plan->placement, form, loop, times), {}});
  plan->costs = std::make_unique<RepeatCosts>(flow, times);
  for (unsigned stage = 0; stage < form.numStages; ++stage)
    plan->stages.emplace_back(flow, *plan->placement, form, plan->loops, *plan->costs, stage, numParts);
  if (llvm::Error error = plan->schedule(times)) return std::move(error);
  Block& block = flow.getFunction().front();
  for (BlockArgument argument : block.getArguments()) plan->addChannels(argument);
  for (Operation& op : block.without_terminator())
    for (Value result : op.getResults()) plan->addChannels(result);
  return plan;
}

/// A slot needs those that send to it, and sends take time.
void PipelinePlan::addMessages(const OpTimes& opTimes) {
  if (loops.empty()) return;
  const MessageTimes messages(flow, form.numStages, opTimes.getCost());
  for (Operation& op : flow.getOps())
    for (Value result : op.getResults()) {
      const StageSet receiving = getReceiving(result);
      for (unsigned stage : receiving.set_bits()) {
        if (!isReceivedInParts(result, stage)) continue;
        SlotPosition from = stages[getSender(result)].getHome(result), to = stages[stage].getHome(result);
        addNeed(loops[to.loop].slots, to.slot, from.slot);
        loops[from.loop].slots.slots[from.slot].transferSeconds += messages.get(result, getSender(result), stage);
      }
    }
}

llvm::Error PipelinePlan::schedule(const OpTimes& opTimes) {
  for (const StagePlan& stage : stages) {
    stage.addNeeds(loops);
    stage.addRepeated(loops);
  }
  addMessages(opTimes);
  times.busy.assign(form.numStages, 0);
  for (LoopPlan& loop : loops) {
    llvm::Expected<PipelineSchedule> schedule = createSchedule(form, loop.slots.slots, numParts);
    if (!schedule) return schedule.takeError();
    loop.schedule = std::move(*schedule);
    if (std::optional<PipelineTimes> of = simulate(loop.slots.slots, loop.schedule)) {
      times.seconds += of->seconds;
      for (auto [busy, more] : llvm::zip(times.busy, of->busy)) busy += more;
    }
  }
  for (StagePlan& stage : stages) stage.countPlaces();
  return llvm::Error::success();
}

StageSet PipelinePlan::getReceiving(Value value) const {
  StageSet receiving = toStages(form, placement->getNeeding(value));
  receiving.reset(getHaving(value));
  return receiving;
}

void PipelinePlan::addChannels(Value value) {
  const StageSet receiving = getReceiving(value);
  for (unsigned stage : receiving.set_bits()) {
    ChannelPlan channel{static_cast<unsigned>(channels.size()), 1};
    if (isReceivedInParts(value, stage)) {
      SlotPosition from = stages[getSender(value)].getHome(value), to = stages[stage].getHome(value);
      const LoopPlan& loop = loops[from.loop];
      channel.depth = getMostInFlight(loop.slots.slots, loop.schedule, from.slot, to.slot);
    }
    channels[{value, stage}] = channel;
  }
}

void PipelinePlan::remarkAhead() const {
  if (form.kind != ScheduleKind::OneForwardOneBackward) return;
  for (const LoopPlan& loop : loops) {
    auto last = static_cast<unsigned>(loop.slots.slots.size()) - 1;
    unsigned most = loop.slots.slots[last].stage == 0 ? getMostStashed(loop.schedule, 0, 0, last) : 0;
    if (most <= form.numStages) continue;
    mlir::emitRemark(flow.getFunction().getLoc())
        << "stage 0 has " << most << " micro-batches in flight for " << form.numStages << " stages, and stores "
        << stages.front().getStoredBytes() << " bytes of each, so that messages are sent while stages compute; "
        << "schedule '1f1b:0' has no more in flight than stages";
  }
}
