// Medians over the last steps and over ranks.
#include "runtime/watch/job_status.h"

#include <algorithm>
#include <cmath>

namespace sgd::watch {

double Quantile(std::vector<double> values, double share) {
  const auto index = static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(index));
  return values[index];
}

void StatusKeeper::StepEnded(uint64_t step, absl::Duration duration, std::optional<double> loss) {
  const std::lock_guard lock(mutex_);
  steps_done_ = step + 1;
  seconds_[run_steps_++ % kLastSteps] = absl::ToDoubleSeconds(duration);
  run_seconds_ += absl::ToDoubleSeconds(duration);
  loss_ = loss;
}

void StatusKeeper::StragglerFound() {
  const std::lock_guard lock(mutex_);
  ++stragglers_;
}

JobStatus StatusKeeper::Read() const {
  JobStatus status;
  std::vector<double> seconds;
  {
    const std::lock_guard lock(mutex_);
    status.steps_done = std::max(steps_done_, facts_.first_step);
    status.run_steps = run_steps_;
    status.run_seconds = run_seconds_;
    status.loss = loss_;
    status.stragglers = stragglers_;
    seconds.assign(seconds_.begin(),
                   seconds_.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(run_steps_, kLastSteps)));
  }
  status.steps_planned = facts_.first_step + facts_.steps;
  status.restarts = facts_.restarts;
  if (!seconds.empty()) {
    status.least_seconds = Quantile(seconds, 0);
    status.slow_seconds = Quantile(seconds, 0.9);
    status.median_seconds = Quantile(std::move(seconds), 0.5);
  }
  if (status.median_seconds.value_or(0) > 0) {
    const double median = *status.median_seconds;
    if (facts_.rows) status.rows_per_second = static_cast<double>(*facts_.rows) / median;
    if (facts_.tokens) status.tokens_per_second = static_cast<double>(*facts_.tokens) / median;
    // A device that is faster than its topology says is another one: nothing is known of its share.
    if (facts_.least_seconds.value_or(0) > 0 && *facts_.least_seconds <= median)
      status.utilization = *facts_.least_seconds / median;
  }
  AddRanks(status);
  return status;
}

void StatusKeeper::AddRanks(JobStatus& status) const {
  if (watch_ == nullptr) return;
  std::map<uint32_t, double> own;  // medians of ranks
  std::vector<double> waits;
  for (uint32_t rank = 0; rank < watch_->places().size(); ++rank) {
    const std::optional<RankState> state = watch_->StateOf(rank);
    if (!state || state->known() == 0) continue;
    status.resident_bytes[rank] = state->resident_bytes;
    if (rank == 0) {
      status.checkpoints = state->checkpoints;
      status.stalled_seconds = state->stalled_seconds;
    }
    std::vector<double> owns, waited;
    for (size_t i = 0; i < state->known(); ++i) {
      owns.push_back(state->Sample(i).own());
      waited.push_back(state->Sample(i).wait);
    }
    own[rank] = Quantile(std::move(owns), 0.5);
    waits.push_back(Quantile(std::move(waited), 0.5));
  }
  if (!watch_->measures_waits() || own.empty()) return;
  double sum = 0;
  for (double wait : waits) sum += wait;
  status.exposed_seconds = sum / static_cast<double>(waits.size());
  if (own.size() < 2) return;
  std::vector<double> values;
  for (const auto& [rank, seconds] : own) values.push_back(seconds);
  const auto slowest = std::ranges::max_element(own, {}, [](const auto& one) { return one.second; });
  status.slowest_rank = slowest->first;
  // The lower median of two ranks is the other one.
  std::ranges::sort(values);
  status.slowest_lead = slowest->second - values[(values.size() - 1) / 2];
}

}  // namespace sgd::watch
