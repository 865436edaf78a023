// What a schedule costs: times, and parts under way.
#include <algorithm>
#include <map>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/stages/pipeline_schedule.h"

using namespace mlir::sgd;

double PipelineTimes::getBubble() const {
  if (seconds <= 0 || busy.empty()) return 0;
  double mean = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
  return 1 - mean / seconds;
}

namespace {
struct Interval {
  double begin = 0, end = 0;
  double arrival = 0;  // of the task's messages at other stages
};

/// Start and end of each task, by slot and part, of `steps` steps one after another.
class Simulation {
 public:
  Simulation(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule);

  /// False where tasks wait forever.
  bool runStep();
  Interval get(Task task) const { return times[task.slot][task.part]; }
  double getEnd() const { return *std::max_element(free.begin(), free.end()); }

 private:
  std::optional<double> getReady(unsigned stage, Task task) const;
  void run(unsigned stage, Task task, double ready);

  llvm::ArrayRef<Slot> slots;
  const PipelineSchedule& schedule;
  std::vector<double> free;
  std::vector<double*> links;                               // by slot, into the next; null where it sends nothing
  std::map<std::pair<unsigned, unsigned>, double> linkEnd;  // by sender and receiver: when the last message has come
  std::vector<std::vector<bool>> isDone;
  std::vector<std::vector<Interval>> times;
};
}  // namespace

/// Messages of a slot that several stages receive count on the link to one of them.
Simulation::Simulation(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule)
    : slots(slots), schedule(schedule), free(schedule.size(), 0), links(slots.size()) {
  for (const Slot& slot : slots)
    for (unsigned need : slot.needs)
      if (slots[need].transferSeconds > 0 && slots[need].stage != slot.stage)
        links[need] = &linkEnd[{slots[need].stage, slot.stage}];
}

/// When a task of `stage` can start; nothing while one that it needs has not run.
std::optional<double> Simulation::getReady(unsigned stage, Task task) const {
  double ready = free[stage];
  for (unsigned need : slots[task.slot].needs) {
    if (!isDone[need][task.part]) return std::nullopt;
    const Interval& before = times[need][task.part];
    ready = std::max(ready, slots[need].stage == stage ? before.end : before.arrival);
  }
  return ready;
}

void Simulation::run(unsigned stage, Task task, double ready) {
  const Slot& slot = slots[task.slot];
  free[stage] = ready + slot.seconds;
  double arrival = free[stage];
  if (double* link = links[task.slot]) arrival = *link = std::max(*link, free[stage]) + slot.transferSeconds;
  times[task.slot][task.part] = {ready, free[stage], arrival};
  isDone[task.slot][task.part] = true;
}

bool Simulation::runStep() {
  unsigned numParts = 0;
  size_t left = 0;
  for (const std::vector<Task>& tasks : schedule) {
    left += tasks.size();
    for (Task task : tasks) numParts = std::max(numParts, task.part + 1);
  }
  isDone.assign(slots.size(), std::vector<bool>(numParts));
  times.assign(slots.size(), std::vector<Interval>(numParts));
  std::vector<size_t> next(schedule.size());
  while (left > 0) {
    size_t before = left;
    for (unsigned stage = 0; stage < schedule.size(); ++stage)
      while (next[stage] < schedule[stage].size()) {
        Task task = schedule[stage][next[stage]];
        std::optional<double> ready = getReady(stage, task);
        if (!ready) break;
        run(stage, task, *ready);
        ++next[stage];
        --left;
      }
    if (left == before) return false;
  }
  return true;
}

std::optional<PipelineTimes> mlir::sgd::simulate(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule) {
  constexpr unsigned kWarmSteps = 3, kSteps = 4;
  Simulation simulation(slots, schedule);
  PipelineTimes times;
  times.busy.resize(schedule.size());
  for (auto [stage, tasks] : llvm::enumerate(schedule))
    for (Task task : tasks) times.busy[stage] += slots[task.slot].seconds;
  double begin = 0;
  for (unsigned step = 0; step < kWarmSteps + kSteps; ++step) {
    if (!simulation.runStep()) return std::nullopt;
    if (step + 1 == kWarmSteps) begin = simulation.getEnd();
  }
  times.seconds = (simulation.getEnd() - begin) / kSteps;
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
  Simulation simulation(slots, schedule);
  if (!simulation.runStep()) return 1;
  // Parts come in order, so the receiver's k-th task takes the sender's k-th message.
  std::vector<double> sent, taken;
  for (const std::vector<Task>& tasks : schedule)
    for (Task task : tasks) {
      if (task.slot == from) sent.push_back(simulation.get(task).end);
      if (task.slot == to) taken.push_back(simulation.get(task).begin);
    }
  size_t most = 1, next = 0;
  for (size_t part = 0; part < sent.size(); ++part) {
    while (next < taken.size() && taken[next] < sent[part]) ++next;
    most = std::max(most, part + 1 - next);
  }
  return static_cast<unsigned>(most);
}
