// What a schedule costs: times, and parts under way.
#include <algorithm>
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
};

/// Start and end of each task, by slot and part, of `steps` steps one after another.
class Simulation {
 public:
  Simulation(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule, double transferSeconds)
      : slots(slots), schedule(schedule), transferSeconds(transferSeconds), free(schedule.size(), 0) {}

  /// False where tasks wait forever.
  bool runStep();
  Interval get(Task task) const { return times[task.slot][task.part]; }
  double getEnd() const { return *std::max_element(free.begin(), free.end()); }

 private:
  std::optional<double> getReady(unsigned stage, Task task) const;

  llvm::ArrayRef<Slot> slots;
  const PipelineSchedule& schedule;
  double transferSeconds;
  std::vector<double> free;
  std::vector<std::vector<bool>> isDone;
  std::vector<std::vector<Interval>> times;
};
}  // namespace

/// When a task of `stage` can start; nothing while one that it needs has not run.
std::optional<double> Simulation::getReady(unsigned stage, Task task) const {
  double ready = free[stage];
  for (unsigned need : slots[task.slot].needs) {
    if (!isDone[need][task.part]) return std::nullopt;
    ready = std::max(ready, times[need][task.part].end + (slots[need].stage == stage ? 0 : transferSeconds));
  }
  return ready;
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
        free[stage] = *ready + slots[task.slot].seconds;
        times[task.slot][task.part] = {*ready, free[stage]};
        isDone[task.slot][task.part] = true;
        ++next[stage];
        --left;
      }
    if (left == before) return false;
  }
  return true;
}

std::optional<PipelineTimes> mlir::sgd::simulate(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule,
                                                 double transferSeconds) {
  constexpr unsigned kWarmSteps = 3, kSteps = 4;
  Simulation simulation(slots, schedule, transferSeconds);
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
  Simulation simulation(slots, schedule, 0);
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
