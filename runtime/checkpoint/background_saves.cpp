// One save at a time. A process that ends leaves its file: the folder aside is never taken for a checkpoint.
#include "runtime/checkpoint/background_saves.h"

#include <utility>

#include "absl/time/clock.h"
#include "runtime/checkpoint/save.h"
#include "runtime/clock/cpu_time.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::checkpoint {
namespace {

constexpr absl::Duration kReportPause = absl::Milliseconds(5);

}  // namespace

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

absl::Status BackgroundSaves::Finish(const std::function<absl::Status()>& poll) {
  std::unique_lock lock(mutex_);
  while (wanted_.has_value()) {
    if (absl::Status status = poll(); !status.ok()) return status;
    changed_.wait_for(lock, absl::ToChronoMilliseconds(kReportPause), [&] { return !wanted_.has_value(); });
  }
  return absl::OkStatus();
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

absl::Status BackgroundSaves::IsGivenUp() {
  std::lock_guard lock(mutex_);
  return stops_ ? absl::CancelledError("the run ends") : absl::OkStatus();
}

SaveOutcome BackgroundSaves::Write(const TrainingPoint& point) {
  const absl::Time begin = SteadyNow();
  const absl::Duration cpu_before = ThreadCpuTime();
  SaveOutcome outcome;
  outcome.steps_done = point.step;
  ++number_;
  outcome.status = options_.shared.count > 1 ? WriteShared(point, outcome) : WriteOwn(point, outcome);
  outcome.duration = SteadyNow() - begin;
  if (outcome.status.ok() && options_.shared.index == 0)
    outcome.removal = RemoveOthers(options_.directory, options_.keep);
  outcome.cpu = ThreadCpuTime() - cpu_before;
  return outcome;
}

absl::Status BackgroundSaves::WriteOwn(const TrainingPoint& point, SaveOutcome& outcome) {
  const auto poll = [this] { return IsGivenUp(); };
  const absl::Status status = snapshot_.WaitUntilWhole({poll, absl::InfiniteDuration()});
  if (!status.ok()) return status;
  const absl::StatusOr<StateFile> file = SaveImage(options_.directory, point, snapshot_.image(), options_.level, poll);
  if (!file.ok()) return file.status();
  outcome.bytes = file->bytes;
  outcome.bytes_on_disk = file->bytes_on_disk();
  return absl::OkStatus();
}

// Errors of this process's file are told to the first process, which fails the save.
absl::Status BackgroundSaves::WriteShared(const TrainingPoint& point, SaveOutcome& outcome) {
  const SharedSave& shared = options_.shared;
  const auto poll = [this] { return IsGivenUp(); };
  if (absl::Status status = snapshot_.WaitUntilWhole({poll, absl::InfiniteDuration()}); !status.ok()) return status;
  absl::StatusOr<StateFile> own = WriteStateOf(options_.directory, point.step, StateName(shared.index, shared.count),
                                               snapshot_.image(), shared.total_bytes, options_.level, poll);
  if (absl::Status status = poll(); !status.ok()) return status;
  if (shared.index == 0) return CompleteShared(point, std::move(own), outcome);
  reports_.Add(number_, own);
  while (!shared.tell(reports_.text())) {
    if (absl::Status status = poll(); !status.ok()) return status;
    absl::SleepFor(kReportPause);
  }
  return absl::OkStatus();
}

absl::StatusOr<StateFile> BackgroundSaves::AwaitFileOf(uint32_t index) {
  while (true) {
    std::optional<absl::StatusOr<StateFile>> file = SaveReports::Find(options_.shared.told(index), number_);
    if (file) return *std::move(file);
    if (absl::Status status = IsGivenUp(); !status.ok()) return status;
    absl::SleepFor(kReportPause);
  }
}

// Waits for all, also after a failure: nobody is to write into a folder that is removed.
absl::Status BackgroundSaves::CompleteShared(const TrainingPoint& point, absl::StatusOr<StateFile> own,
                                             SaveOutcome& outcome) {
  absl::Status status = own.status();
  std::vector<StateFile> files;
  if (own.ok()) files.push_back(*std::move(own));
  for (uint32_t index = 1; index < options_.shared.count; ++index) {
    absl::StatusOr<StateFile> file = AwaitFileOf(index);
    if (absl::Status stopped = IsGivenUp(); !stopped.ok()) return stopped;
    status.Update(file.status());
    if (file.ok()) files.push_back(*std::move(file));
  }
  for (const StateFile& file : files) {
    outcome.bytes += file.bytes;
    outcome.bytes_on_disk += file.bytes_on_disk();
  }
  if (status.ok()) status = Complete(options_.directory, point, std::move(files));
  if (!status.ok()) Abandon(options_.directory, point.step);
  return status;
}

}  // namespace sgd::checkpoint
