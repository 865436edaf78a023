// /proc/self/task/TID/schedstat: time on a core, time in a run queue, time slices.
#include "runtime/watch/core_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "runtime/clock/steady_clock.h"

namespace sgd::watch {
namespace {

constexpr size_t kMostThreads = 64;
constexpr int64_t kCostFactor = 1000;

// 0 where it cannot be read.
int64_t ReadDelay(int file) {
  char text[96] = {};
  if (pread(file, text, sizeof(text) - 1, 0) <= 0) return 0;
  long long on_core = 0, delay = 0;
  return std::sscanf(text, "%lld %lld", &on_core, &delay) == 2 ? delay : 0;
}

}  // namespace

CoreDelay::CoreDelay() {
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end;
       at.increment(error)) {
    if (threads_.size() == kMostThreads) break;
    comm::UniqueFd file(open((at->path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid()) threads_.push_back({std::move(file), 0});
  }
  for (Thread& thread : threads_) thread.nanoseconds = ReadDelay(thread.file.get());
}

absl::Duration CoreDelay::Take() {
  const int64_t begin = SteadyNanoseconds();
  if (begin < next_look_) return absl::ZeroDuration();
  int64_t most = 0;
  for (Thread& thread : threads_) {
    const int64_t now = ReadDelay(thread.file.get());
    most = std::max(most, now - thread.nanoseconds);
    thread.nanoseconds = now;
  }
  const int64_t end = SteadyNanoseconds();
  cost_ = std::min(cost_, end - begin);  // this look may have been interrupted
  next_look_ = end + cost_ * kCostFactor;
  return absl::Nanoseconds(most);
}

}  // namespace sgd::watch
