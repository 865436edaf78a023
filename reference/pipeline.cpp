// A thread for each stage, of which one runs at a time, until it waits for a message or ends: evaluation is recursive,
// and has no other way to stop in the middle.
#include "reference/pipeline.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "dialects/sgd/stages.h"
#include "runtime/thread/spawn_thread.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

using Key = std::pair<int64_t, int64_t>;  // channel, stage that receives

class Pipeline {
 public:
  Pipeline(ArrayRef<func::FuncOp> stages, int64_t ranks)
      : stages(stages), ranksOfStage(ranks / static_cast<int64_t>(stages.size())), ranks(ranks) {}

  FailureOr<std::vector<std::vector<RankTensors>>> run(std::vector<std::vector<RankTensors>> arguments) {
    std::vector<std::thread> threads;
    states.resize(stages.size());
    results.resize(stages.size());
    for (size_t stage = 0; stage < stages.size() && !lacksThread; ++stage) {
      auto thread =
          ::sgd::SpawnThread("a stage of the pipeline",
                             [this, stage, own = std::move(arguments[stage])]() mutable { runStage(stage, own); });
      if (thread.ok()) {
        threads.push_back(*std::move(thread));
        continue;
      }
      func::FuncOp function = stages[stage];
      function.emitError() << std::string(thread.status().message());
      hasFailed = lacksThread = true;
      for (size_t missing = stage; missing < stages.size(); ++missing) states[missing].isDone = true;
    }
    while (std::optional<size_t> stage = findNext()) give(static_cast<int64_t>(*stage));
    for (std::thread& thread : threads) thread.join();
    if (hasFailed) return failure();
    for (auto& [key, messages] : queues)
      if (!messages.empty())
        return func::FuncOp(stages.front()).emitError()
                   << "a message of channel " << key.first << " to stage " << key.second
                   << " is never received; expected as many receives as sends; add them",
               failure();
    return std::move(results);
  }

  LogicalResult exchange(size_t stage, Operation* op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    if (auto send = dyn_cast<spmd::SendOp>(op)) {
      queues[{send.getChannel(), send.getStage()}].push_back(*in.front());
      return success();
    }
    auto receive = cast<spmd::ReceiveOp>(op);
    std::deque<RankTensors>& queue = queues[{receive.getChannel(), static_cast<int64_t>(stage)}];
    if (queue.empty()) {
      states[stage].waitsFor = &queue;
      yield(stage);
      states[stage].waitsFor = nullptr;
      if (queue.empty())
        return op->emitOpError() << "waits for a message of channel " << receive.getChannel() << " from stage "
                                 << receive.getStage() << ", and all stages wait; expected a send before; reorder them";
    }
    RankTensors message = std::move(queue.front());
    queue.pop_front();
    if (message.front().type != out.front().front().type)
      return op->emitOpError() << "receives " << message.front().type << "; expected " << out.front().front().type
                               << "; correct its type";
    // Each rank from the one with its coordinates along all other axes.
    int64_t from = static_cast<int64_t>(receive.getStage()) * ranksOfStage;
    for (int64_t rank = 0; rank < ranks; ++rank) out.front()[rank] = message[from + rank % ranksOfStage];
    return success();
  }

 private:
  struct State {
    bool isDone = false;
    std::deque<RankTensors>* waitsFor = nullptr;
  };

  struct Exchanger : EvaluationObserver {
    Exchanger(Pipeline& pipeline, size_t stage) : pipeline(pipeline), stage(stage) {}
    LogicalResult exchange(Operation* op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) final {
      return pipeline.exchange(stage, op, in, out);
    }
    Pipeline& pipeline;
    size_t stage;
  };

  void runStage(size_t stage, std::vector<RankTensors>& arguments) {
    waitForTurn(static_cast<int64_t>(stage));
    Exchanger exchanger(*this, stage);
    FailureOr<std::vector<RankTensors>> own = failure();
    if (!lacksThread) own = evaluate(stages[stage], std::move(arguments), ranks, &exchanger);
    if (failed(own))
      hasFailed = true;
    else
      results[stage] = std::move(*own);
    states[stage].isDone = true;
    give(kScheduler, /*waits=*/false);
  }

  /// The first stage that can go on; when there is none, the first that waits in vain.
  std::optional<size_t> findNext() const {
    std::optional<size_t> stuck;
    for (auto [stage, state] : llvm::enumerate(states)) {
      if (state.isDone) continue;
      if (!state.waitsFor || !state.waitsFor->empty()) return stage;
      if (!stuck) stuck = stage;
    }
    return stuck;
  }

  static constexpr int64_t kScheduler = -1;

  void waitForTurn(int64_t who) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return turn == who; });
  }
  /// Lets `next` run; the scheduler then waits until it has the turn again.
  void give(int64_t next, bool waits = true) {
    {
      std::lock_guard lock(mutex);
      turn = next;
    }
    changed.notify_all();
    if (waits) waitForTurn(kScheduler);
  }
  void yield(size_t stage) {
    give(kScheduler, /*waits=*/false);
    waitForTurn(static_cast<int64_t>(stage));
  }

  ArrayRef<func::FuncOp> stages;
  int64_t ranksOfStage, ranks;
  std::map<Key, std::deque<RankTensors>> queues;  // messages that were sent and not received
  std::vector<std::vector<RankTensors>> results;
  std::vector<State> states;
  bool hasFailed = false;
  bool lacksThread = false;  // of a stage, so that none runs
  // Whose turn it is to touch the members above.
  int64_t turn = kScheduler;
  std::mutex mutex;
  std::condition_variable changed;
};

}  // namespace

FailureOr<std::vector<std::vector<RankTensors>>> reference::evaluatePipeline(
    ArrayRef<func::FuncOp> stages, std::vector<std::vector<RankTensors>> arguments, int64_t ranks) {
  return Pipeline(stages, ranks).run(std::move(arguments));
}
