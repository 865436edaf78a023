// One save at a time.
#include "runtime/checkpoint/background_saves.h"

#include <utility>

#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::checkpoint {

absl::StatusOr<std::unique_ptr<BackgroundSaves>> BackgroundSaves::Start(SharedSnapshot& snapshot, Options options) {
  auto saves = std::unique_ptr<BackgroundSaves>(new BackgroundSaves(snapshot, std::move(options)));
  absl::StatusOr<std::thread> thread = SpawnThread("saving checkpoints", [saves = saves.get()] { saves->Run(); });
  if (!thread.ok()) return thread.status();
  saves->thread_ = *std::move(thread);
  return saves;
}

BackgroundSaves::~BackgroundSaves() {
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundSaves::stops() {
  std::lock_guard lock(mutex_);
  return stops_;
}

void BackgroundSaves::Save(TrainingPoint point) {
  {
    std::lock_guard lock(mutex_);
    wanted_ = std::move(point);
  }
  changed_.notify_all();
}

std::vector<SaveOutcome> BackgroundSaves::TakeEnded() {
  std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

void BackgroundSaves::Finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !wanted_.has_value(); });
}

void BackgroundSaves::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || wanted_.has_value(); });
    if (stops_) return;
    const TrainingPoint point = *wanted_;
    lock.unlock();
    SaveOutcome outcome = Write(point);
    lock.lock();
    ended_.push_back(std::move(outcome));
    wanted_.reset();
    snapshot_.Release();
    changed_.notify_all();
  }
}

SaveOutcome BackgroundSaves::Write(const TrainingPoint& point) {
  const auto is_given_up = [&] { return stops() ? absl::CancelledError("the run ends") : absl::OkStatus(); };
  const absl::Time begin = SteadyNow();
  SaveOutcome outcome;
  outcome.steps_done = point.step;
  outcome.bytes = snapshot_.image().size();
  outcome.status = snapshot_.WaitUntilWhole({is_given_up, absl::InfiniteDuration()});
  if (outcome.status.ok()) outcome.status = SaveImage(options_.directory, point, snapshot_.image(), is_given_up);
  if (outcome.status.ok()) outcome.removal = RemoveOthers(options_.directory, options_.keep);
  outcome.duration = SteadyNow() - begin;
  return outcome;
}

}  // namespace sgd::checkpoint
