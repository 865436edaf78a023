// Reads clocks; nothing else.
#include "runtime/trace/start_times.h"

#include <time.h>

#include "absl/strings/str_cat.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {
namespace {

int64_t Nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int64_t MonotonicNanoseconds() { return Nanoseconds(CLOCK_MONOTONIC); }

StartTimes StartTimes::OfThisProcess() {
  StartTimes times(MonotonicNanoseconds() - Nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
  times.End("link");
  return times;
}

void StartTimes::End(const char* name) {
  const int64_t now = MonotonicNanoseconds();
  phases_.emplace_back(name, now - last_);
  last_ = now;
}

std::string StartTimes::Json() const {
  std::string json = "{";
  for (const auto& [name, nanoseconds] : phases_) {
    absl::StrAppend(&json, json.size() > 1 ? ", " : "", "\"", name,
                    "\": ", NumberJson(static_cast<double>(nanoseconds) / 1e6));
  }
  return json + "}";
}

}  // namespace sgd::trace
