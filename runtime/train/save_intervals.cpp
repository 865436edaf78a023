// The slowest rank counts.
#include "runtime/train/save_intervals.h"

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/failures.h"
#include "runtime/comm/control/gather_values.h"

namespace sgd::train {
namespace {

struct Times {
  double stall = 0;  // seconds
  double step = 0;
};

}  // namespace

absl::Status SaveIntervals::Saved(uint64_t steps_done, absl::Duration stall, comm::Agreements& ranks,
                                  absl::Duration deadline) {
  const double seconds = absl::ToDoubleSeconds(SteadyNow() - since_ - stall);
  const uint64_t steps = std::max<uint64_t>(steps_done - last_, 1);
  const Times own = {absl::ToDoubleSeconds(stall), seconds / static_cast<double>(steps)};
  const absl::StatusOr<std::vector<Times>> all = comm::GatherValues(ranks, own, deadline);
  if (!all.ok()) return all.status();
  Times most;
  for (const Times& times : *all) most = {std::max(most.stall, times.stall), std::max(most.step, times.step)};
  const double mean = absl::ToDoubleSeconds(mtbf_) / ranks.size();
  const double interval =
      checkpoint::BestInterval({.mean_time_between = mean, .save = most.stall, .restart = 0}, most.step);
  constexpr double kMost = 1e9;
  const double in_steps = std::clamp(interval / std::max(most.step, 1e-9), 1.0, kMost);
  last_ = steps_done;
  next_ = steps_done + static_cast<uint64_t>(in_steps);
  since_ = SteadyNow();
  return absl::OkStatus();
}

}  // namespace sgd::train
