// Times by the steady clock.
#include "runtime/data/read_watch.h"

#include "runtime/clock/steady_clock.h"

namespace sgd::data {

std::optional<ReadWatch::Reading> ReadWatch::current() const {
  const std::lock_guard lock(mutex_);
  if (path_ == nullptr) return std::nullopt;
  return Reading{*path_, SteadyNow() - begin_};
}

ReadWatch::Total ReadWatch::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

WatchedRead::WatchedRead(ReadWatch& watch, const std::string& path, uint64_t bytes) : watch_(watch), bytes_(bytes) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.path_ = &path;
  watch_.begin_ = SteadyNow();
}

WatchedRead::~WatchedRead() {
  std::string slow;
  absl::Duration time;
  {
    const std::lock_guard lock(watch_.mutex_);
    time = SteadyNow() - watch_.begin_;
    if (time >= watch_.slow_) slow = *watch_.path_;
    watch_.path_ = nullptr;
    ++watch_.total_.reads;
    watch_.total_.bytes += bytes_;
  }
  if (!slow.empty() && watch_.on_slow_) watch_.on_slow_(slow, bytes_, time);
}

}  // namespace sgd::data
