// The state of a training run as people and programs watch it: what a run publishes, and what sgd-top reads back.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/watch/step_watch.h"

namespace sgd::watch {

// Nothing where it is not known.
struct JobStatus {
  uint64_t steps_done = 0;     // by this run and those before
  uint64_t steps_planned = 0;  // likewise
  uint64_t run_steps = 0;      // of this run alone
  double run_seconds = 0;      // that they took
  std::optional<double> least_seconds = std::nullopt, median_seconds = std::nullopt,
                        slow_seconds = std::nullopt;  // of the last steps: 0, 0.5 and 0.9 quantiles
  std::optional<double> loss = std::nullopt;
  std::optional<double> rows_per_second = std::nullopt, tokens_per_second = std::nullopt;  // by the median step
  std::optional<double> utilization = std::nullopt;  // of the device's rate of operations, 0 to 1, by the median step
  std::optional<double> exposed_seconds =
      std::nullopt;  // in collectives, of a step: mean of the ranks, median of the last steps
  std::optional<uint32_t> slowest_rank = std::nullopt;  // that waits least for the others
  std::optional<double> slowest_lead = std::nullopt;    // how much longer than the median rank it takes, in seconds
  std::map<uint32_t, uint64_t> resident_bytes = {};     // by rank
  uint64_t stragglers = 0;                              // named in this run
  uint64_t restarts = 0;
  uint64_t checkpoints = 0;    // of this run
  double stalled_seconds = 0;  // in which steps waited for them
};

// Facts that are known before the first step.
struct JobFacts {
  uint64_t first_step = 0;
  uint64_t steps = 0;                                                  // of this run
  std::optional<uint64_t> rows = std::nullopt, tokens = std::nullopt;  // of a step
  std::optional<double> least_seconds = std::nullopt;  // that a step's operations take at the device's full rate
  uint64_t restarts = 0;
};

// Collects the status on rank 0. The thread of the steps adds, any thread reads.
class StatusKeeper {
 public:
  // `watch` is borrowed, and may be null: then nothing is known of ranks.
  StatusKeeper(const JobFacts& facts, const StepWatch* watch) : facts_(facts), watch_(watch) {}

  void StepEnded(uint64_t step, absl::Duration duration, std::optional<double> loss);
  void StragglerFound();

  JobStatus Read() const;

 private:
  static constexpr size_t kLastSteps = 128;

  void AddRanks(JobStatus& status) const;

  const JobFacts facts_;
  const StepWatch* const watch_;
  mutable std::mutex mutex_;
  uint64_t steps_done_ = 0, run_steps_ = 0, stragglers_ = 0;
  double run_seconds_ = 0;
  std::optional<double> loss_;
  std::array<double, kLastSteps> seconds_ = {};  // a ring
};

// The `share` quantile, 0 to 1, of some values.
double Quantile(std::vector<double> values, double share);

}  // namespace sgd::watch
