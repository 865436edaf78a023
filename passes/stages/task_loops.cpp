// The tasks of a stage as loops.
#include <limits>

#include "passes/stages/pipeline_schedule.h"

using namespace mlir::sgd;

static constexpr size_t kMaxBody = 64;

/// How often tasks [begin, begin + length) repeat from `begin` on, each time with all parts `stride` higher.
static unsigned countTrips(llvm::ArrayRef<Task> tasks, size_t begin, size_t length, unsigned& stride) {
  stride = 1;
  if (begin + 2 * length > tasks.size() || tasks[begin + length].part <= tasks[begin].part) return 1;
  stride = tasks[begin + length].part - tasks[begin].part;
  size_t end = begin + length;
  while (end < tasks.size()) {
    Task before = tasks[end - length];
    if (!(tasks[end] == Task{before.slot, before.part + stride})) break;
    ++end;
  }
  return static_cast<unsigned>((end - begin) / length);
}

std::vector<TaskLoop> mlir::sgd::formTaskLoops(llvm::ArrayRef<Task> tasks) {
  // The cheapest loops from a task to the end: their bodies' tasks first, then their number.
  struct Best {
    size_t cost = std::numeric_limits<size_t>::max(), length = 0;
    unsigned trips = 1, stride = 1;
  };
  constexpr size_t kTaskCost = 64;
  std::vector<Best> best(tasks.size() + 1);
  best.back().cost = 0;
  for (size_t begin = tasks.size(); begin-- > 0;)
    for (size_t length = 1; length <= kMaxBody && begin + length <= tasks.size(); ++length) {
      unsigned stride;
      unsigned trips = countTrips(tasks, begin, length, stride);
      size_t cost = kTaskCost * length + 1 + best[begin + trips * length].cost;
      if (cost < best[begin].cost) best[begin] = {cost, length, trips, stride};
    }
  std::vector<TaskLoop> loops;
  for (size_t begin = 0; begin < tasks.size(); begin += best[begin].trips * best[begin].length) {
    const Best& chosen = best[begin];
    TaskLoop loop{chosen.trips, chosen.stride, {}};
    for (const Task& task : tasks.slice(begin, chosen.length)) loop.body.push_back({task.slot, task.part});
    loops.push_back(std::move(loop));
  }
  return loops;
}
