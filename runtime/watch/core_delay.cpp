// /proc/self/task/TID/schedstat: time on a core, time in a run queue, time slices.
#include "runtime/watch/core_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/clock/steady_clock.h"

namespace sgd::watch {
namespace {

constexpr size_t kMostThreads = 64;
constexpr int64_t kCostFactor = 1000;
constexpr int64_t kComputes = 10;

int64_t OwnTimeOnCore() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::ToInt64Nanoseconds(absl::DurationFromTimespec(time));
}

}  // namespace

int64_t LongestDelay(const std::vector<ThreadTime>& threads) {
  int64_t longest = 0;
  for (const ThreadTime& thread : threads) {
    if (thread.on_core * kComputes >= threads[0].on_core) longest = std::max(longest, thread.delay);
  }
  return longest;
}

CoreDelay::CoreDelay() : on_core_(OwnTimeOnCore()) {
  const std::string own = std::to_string(gettid());
  const auto open_account = [&](const std::filesystem::path& task) {
    comm::UniqueFd file(open((task / "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return;
    Thread& thread = threads_.emplace_back();
    thread.file = std::move(file);
    thread.first = thread.seen = Read(thread);
  };
  const std::filesystem::path tasks = "/proc/self/task";
  open_account(tasks / own);
  std::error_code error;
  for (std::filesystem::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error)) {
    if (threads_.size() == kMostThreads) break;
    if (at->path().filename() != own) open_account(at->path());
  }
}

// Zeros where it cannot be read.
ThreadTime CoreDelay::Read(const Thread& thread) {
  char text[96] = {};
  if (pread(thread.file.get(), text, sizeof(text) - 1, 0) <= 0) return {};
  long long on_core = 0, delay = 0;
  return std::sscanf(text, "%lld %lld", &on_core, &delay) == 2 ? ThreadTime{on_core, delay} : ThreadTime{};
}

int64_t CoreDelay::Look(Thread& thread) {
  const ThreadTime now = Read(thread);
  return now.delay - std::exchange(thread.seen, now).delay;
}

void CoreDelay::Pace::Looked(int64_t begin, int64_t end) {
  cost = std::min(cost, end - begin);  // this look may have been interrupted
  next = end + cost * kCostFactor;
}

void CoreDelay::BeginWait() {
  wait_begin_ = OwnTimeOnCore();
  const int64_t begin = SteadyNanoseconds();
  if (begin < own_.next || threads_.empty()) return;
  threads_[0].delay += Look(threads_[0]);
  own_.Looked(begin, SteadyNanoseconds());
  is_waiting_ = true;
}

void CoreDelay::EndWait() {
  in_waits_ += OwnTimeOnCore() - wait_begin_;
  if (std::exchange(is_waiting_, false)) static_cast<void>(Look(threads_[0]));
}

absl::Duration CoreDelay::Take() {
  const int64_t begin = SteadyNanoseconds();
  if (begin < all_.next) return absl::ZeroDuration();
  times_.clear();
  for (Thread& thread : threads_) {
    thread.delay += Look(thread);
    times_.push_back({thread.seen.on_core - thread.first.on_core, std::exchange(thread.delay, 0)});
  }
  all_.Looked(begin, SteadyNanoseconds());
  return absl::Nanoseconds(LongestDelay(times_));
}

absl::Duration CoreDelay::TakeOnCore() {
  const int64_t now = OwnTimeOnCore();
  return absl::Nanoseconds(now - std::exchange(on_core_, now) - std::exchange(in_waits_, 0));
}

}  // namespace sgd::watch
