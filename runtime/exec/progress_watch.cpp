// Looks a few times within a deadline; what changes in between is all that counts.
#include "runtime/exec/progress_watch.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::exec {
namespace {

constexpr absl::Duration kLongestPause = absl::Milliseconds(250);
constexpr int64_t kLooks = 8;  // within a deadline

absl::Duration ProcessTime() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProgressWatch>> ProgressWatch::Start(const device::Device& device, Options options) {
  auto watch = absl::WrapUnique(new ProgressWatch(device, std::move(options)));
  absl::StatusOr<std::thread> thread =
      SpawnThread("the watch over this rank's progress", [self = watch.get()] { self->Run(); });
  if (!thread.ok()) return thread.status();
  watch->thread_ = *std::move(thread);
  return watch;
}

ProgressWatch::~ProgressWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

void ProgressWatch::BeginStep(const PreparedProgram& program) {
  const std::scoped_lock lock(mutex_);
  program_ = &program;
  At(0);
  Finished();
}

void ProgressWatch::EndStep() {
  const std::scoped_lock lock(mutex_);
  program_ = nullptr;
}

ProgressWatch::Position ProgressWatch::position() {
  const std::scoped_lock lock(mutex_);
  if (program_ == nullptr) return {};
  const uint64_t instruction = instruction_.load(std::memory_order_relaxed);
  return {absl::StrCat("program '", program_->name(), "' ", program_->Describe(instruction)),
          program_->LocationOf(program_->source(instruction))};
}

void ProgressWatch::Run() {
  const absl::Duration pause = std::clamp(options_.deadline / kLooks, absl::Milliseconds(1), kLongestPause);
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, absl::ToChronoMilliseconds(pause), [this] { return stops_; })) {
    const absl::Status error = Look();
    if (error.ok()) continue;
    lock.unlock();  // the rank may end its step meanwhile
    options_.give_up(error);
    return;
  }
}

absl::Status ProgressWatch::Look() {
  const uint64_t finished = finished_.load(std::memory_order_relaxed) + device_.progress();
  const absl::Time now = SteadyNow();
  const absl::Duration cpu_time = ProcessTime();
  if (program_ == nullptr || is_waiting_.load(std::memory_order_relaxed) || finished != mark_.finished) {
    mark_ = {finished, now, cpu_time};
    return absl::OkStatus();
  }
  if (now - mark_.time < options_.deadline || cpu_time - mark_.cpu_time < options_.deadline / 2)
    return absl::OkStatus();
  const absl::Status error = absl::DeadlineExceededError(absl::StrCat(
      "finished nothing in ", absl::FormatDuration(now - mark_.time), " of computing; expected a part of it within ",
      absl::FormatDuration(options_.deadline), "; give --deadline more time if it is that long"));
  return program_->Locate(error, instruction_.load(std::memory_order_relaxed));
}

}  // namespace sgd::exec
