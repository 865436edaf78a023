// Where the time from the start of the first process to the end of a rank's first step goes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sgd::trace {

// The monotonic clock, shared by all processes of this host.
int64_t MonotonicNanoseconds();

// Phases one after the other, none left out. Copied into every rank, which goes on by itself.
class StartTimes {
 public:
  // Begins when this process did: the processor time it has used so far is that of the dynamic
  // linker, which runs without waiting. Call it first in main.
  static StartTimes OfThisProcess();
  explicit StartTimes(int64_t begin_nanoseconds) : begin_(begin_nanoseconds), last_(begin_nanoseconds) {}

  // Ends the phase that began at the end of the one before. `name` must outlive this.
  void End(const char* name);

  // From the beginning to the end of the last phase.
  double TotalMilliseconds() const { return static_cast<double>(last_ - begin_) / 1e6; }
  // {"link": 12.5, ...} in milliseconds.
  std::string Json() const;

 private:
  int64_t begin_;
  int64_t last_;
  std::vector<std::pair<const char*, int64_t>> phases_;  // with nanoseconds
};

}  // namespace sgd::trace
