#include "runtime/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "runtime/comm/control/gather_values.h"

namespace sgd::measure {

namespace {

constexpr int kRepetitions = 5;

}  // namespace

absl::StatusOr<double> Agreement::Largest(double number) const { return comm::LargestOf(control_, number, timeout_); }

absl::StatusOr<uint64_t> Agreement::Least(uint64_t number) const { return comm::LeastOf(control_, number, timeout_); }

absl::StatusOr<double> Agreement::ShortestOfAll(const std::function<absl::Status()>& body) const {
  using Clock = std::chrono::steady_clock;
  if (absl::Status status = body(); !status.ok()) return status;
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepetitions; ++i) {
    if (absl::Status status = control_.Barrier(timeout_); !status.ok()) return status;
    const Clock::time_point begin = Clock::now();
    if (absl::Status status = body(); !status.ok()) return status;
    // A rank that had to wait for a core before it began has not been quick.
    if (absl::Status status = control_.Barrier(timeout_); !status.ok()) return status;
    const absl::StatusOr<double> slowest = Largest(std::chrono::duration<double>(Clock::now() - begin).count());
    if (!slowest.ok()) return slowest.status();
    shortest = std::min(shortest, *slowest);
  }
  return std::max(shortest, 1e-9);
}

}  // namespace sgd::measure
