// Schedules on the clock of steps, and micro-batches in flight.
#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/clock/step_clock.h"
#include "passes/time/stages/pipeline_schedule.h"

using namespace mlir::sgd;

double PipelineTimes::getBubble() const {
  if (seconds <= 0 || busy.empty()) return 0;
  double mean = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
  return 1 - mean / seconds;
}

namespace {
/// Steps of a schedule as the clock executes them: a stage receives what a task needs, computes, and sends.
class Steps {
 public:
  Steps(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule) : slots(slots), schedule(schedule) {
    findMessages();
  }

  /// By stage, when each of its tasks begins and ends in `count` steps one after another; nothing where tasks wait
  /// forever.
  std::optional<std::vector<std::vector<Interval>>> run(unsigned count) const;

 private:
  /// From a slot to one of another stage, over the link to that.
  struct Message {
    unsigned channel, link;
    double seconds;
  };

  void findMessages();
  bool isInOrder() const;
  void addTask(const Task& task, uint32_t index, std::vector<StepEvent>& events) const;

  llvm::ArrayRef<Slot> slots;
  const PipelineSchedule& schedule;
  std::vector<std::vector<unsigned>> received;  // by slot: channels
  std::vector<std::vector<Message>> sent;       // by slot
  unsigned numChannels = 0;
};
}  // namespace

/// Messages of a slot that several stages receive count once, on the link to the last of them.
void Steps::findMessages() {
  received.resize(slots.size()), sent.resize(slots.size());
  for (auto [index, slot] : llvm::enumerate(slots))
    for (unsigned need : slot.needs) {
      if (slots[need].stage == slot.stage) continue;
      received[index].push_back(numChannels);
      sent[need].push_back({numChannels++, slot.stage, 0});
    }
  for (auto [messages, slot] : llvm::zip(sent, slots)) {
    if (messages.empty()) continue;
    for (Message& message : messages) message.link = messages.back().link;
    messages.front().seconds = slot.transferSeconds;
  }
}

/// Whether tasks come behind those of their stage that they need.
bool Steps::isInOrder() const {
  for (auto [stage, tasks] : llvm::enumerate(schedule)) {
    std::vector<unsigned> numDone(slots.size());
    for (const Task& task : tasks) {
      for (unsigned need : slots[task.slot].needs)
        if (slots[need].stage == stage && numDone[need] <= task.part) return false;
      ++numDone[task.slot];
    }
  }
  return true;
}

void Steps::addTask(const Task& task, uint32_t index, std::vector<StepEvent>& events) const {
  for (unsigned channel : received[task.slot]) events.push_back({.kind = StepEvent::Kind::Receive, .number = channel});
  events.push_back({.index = index, .seconds = slots[task.slot].seconds});
  for (const Message& message : sent[task.slot])
    events.push_back(
        {.kind = StepEvent::Kind::Send, .number = message.channel, .link = message.link, .seconds = message.seconds});
}

std::optional<std::vector<std::vector<Interval>>> Steps::run(unsigned count) const {
  if (!isInOrder()) return std::nullopt;
  std::vector<StageProgram> programs(schedule.size());
  size_t most = 0;
  for (auto [program, tasks] : llvm::zip(programs, schedule)) {
    for (unsigned step = 0; step < count; ++step)
      for (auto [index, task] : llvm::enumerate(tasks)) addTask(task, static_cast<uint32_t>(index), program.events);
    most = std::max(most, program.events.size());
  }
  const std::vector<StepChannel> channels(numChannels, StepChannel{.depth = most});
  auto numLinks = static_cast<unsigned>(schedule.size());
  llvm::Expected<StepTimes> times = runStep(programs, channels, numLinks, /*keepsIntervals=*/true);
  if (!times) return llvm::consumeError(times.takeError()), std::nullopt;
  std::vector<std::vector<Interval>> tasks;
  for (StageTimes& stage : times->stages) {
    llvm::erase_if(stage.intervals, [](const Interval& one) { return one.lane != Interval::Lane::Compute; });
    tasks.push_back(std::move(stage.intervals));
  }
  return tasks;
}

std::optional<PipelineTimes> mlir::sgd::simulate(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule) {
  constexpr unsigned kWarmSteps = 3, kSteps = 4;
  std::optional<std::vector<std::vector<Interval>>> tasks = Steps(slots, schedule).run(kWarmSteps + kSteps);
  if (!tasks) return std::nullopt;
  PipelineTimes times;
  double begin = 0, end = 0;
  for (auto [all, ofStep] : llvm::zip(*tasks, schedule)) {
    double& busy = times.busy.emplace_back();
    for (Task task : ofStep) busy += slots[task.slot].seconds;
    if (ofStep.empty()) continue;
    begin = std::max(begin, all[kWarmSteps * ofStep.size() - 1].end);
    end = std::max(end, all.back().end);
  }
  times.seconds = (end - begin) / kSteps;
  return times;
}

unsigned mlir::sgd::getMostStashed(const PipelineSchedule& schedule, unsigned stage, unsigned from, unsigned to) {
  unsigned stashed = 0, most = 0;
  for (Task task : schedule[stage]) {
    if (task.slot == from) most = std::max(most, ++stashed);
    if (task.slot == to) --stashed;
  }
  return most;
}

unsigned mlir::sgd::getMostInFlight(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule, unsigned from,
                                    unsigned to) {
  std::optional<std::vector<std::vector<Interval>>> tasks = Steps(slots, schedule).run(1);
  if (!tasks) return 1;
  // Parts come in order, so the receiver's k-th task takes the sender's k-th message.
  std::vector<double> sent, taken;
  for (auto [times, ofStep] : llvm::zip(*tasks, schedule))
    for (auto [interval, task] : llvm::zip_equal(times, ofStep)) {
      if (task.slot == from) sent.push_back(interval.end);
      if (task.slot == to) taken.push_back(interval.begin);
    }
  size_t most = 1, next = 0;
  for (size_t part = 0; part < sent.size(); ++part) {
    while (next < taken.size() && taken[next] < sent[part]) ++next;
    most = std::max(most, part + 1 - next);
  }
  return static_cast<unsigned>(most);
}
