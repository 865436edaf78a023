// The tasks of a stage as loops.
#include <array>
#include <limits>

#include "passes/time/stages/pipeline_schedule.h"

using namespace mlir::sgd;

static constexpr size_t kMaxBody = 64;

namespace {
/// How often tasks repeat, found in one walk from the last task to the first.
class Repetitions {
 public:
  explicit Repetitions(llvm::ArrayRef<Task> tasks) : tasks(tasks) {}

  /// How often tasks [begin, begin + length) repeat from `begin` on, each time with all parts higher by the stride of
  /// the first. Asked for each length once, by ever smaller `begin`.
  unsigned count(size_t begin, size_t length) {
    unsigned stride = getStride(begin, length);
    size_t& like = numLike[length];
    like = stride == 0 ? 0 : getStride(begin + 1, length) == stride ? like + 1 : 1;
    return 1 + static_cast<unsigned>(like / length);
  }

  /// From the part of task `index` to that of the task `length` behind it, of the same slot; 0: there is none, or its
  /// part is not higher.
  unsigned getStride(size_t index, size_t length) const {
    if (index + length >= tasks.size()) return 0;
    const Task &task = tasks[index], &next = tasks[index + length];
    return next.slot == task.slot && next.part > task.part ? next.part - task.part : 0;
  }

 private:
  llvm::ArrayRef<Task> tasks;
  std::array<size_t, kMaxBody + 1> numLike{};  // by length: tasks from the last `begin` on with the stride of the first
};
}  // namespace

std::vector<TaskLoop> mlir::sgd::formTaskLoops(llvm::ArrayRef<Task> tasks) {
  // The cheapest loops from a task to the end: their bodies' tasks first, then their number.
  struct Best {
    size_t cost = std::numeric_limits<size_t>::max(), length = 0;
    unsigned trips = 1, stride = 1;
  };
  constexpr size_t kTaskCost = 64;
  std::vector<Best> best(tasks.size() + 1);
  best.back().cost = 0;
  Repetitions repetitions(tasks);
  for (size_t begin = tasks.size(); begin-- > 0;)
    for (size_t length = 1; length <= kMaxBody && begin + length <= tasks.size(); ++length) {
      unsigned trips = repetitions.count(begin, length);
      unsigned stride = trips > 1 ? repetitions.getStride(begin, length) : 1;
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
