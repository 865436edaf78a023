// Clocks around steps, and what ranks know of their memory.
#include "runtime/train/step_timing.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>

#include "runtime/comm/control/gather_values.h"
#include "runtime/trace/start_times.h"

namespace sgd::train {
namespace {

using trace::MonotonicNanoseconds;

constexpr uint64_t kWarmUpSteps = 5;
constexpr uint64_t kMostReserved = 1 << 20;

// Proportional set size of this process in bytes: private memory plus its part of what is shared. 0
// where /proc has none.
uint64_t ProportionalSetSize() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::string key;
  while (rollup >> key) {
    uint64_t kilobytes = 0;
    if (key == "Pss:" && rollup >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

absl::StatusOr<uint64_t> LargestOfRanks(Session& session, uint64_t value) {
  return comm::LargestOf(session.control(), value, session.job().options.deadline);
}

absl::StatusOr<double> MeanOfRanks(Session& session, double milliseconds) {
  absl::StatusOr<std::vector<double>> values =
      comm::GatherValues(session.control(), milliseconds, session.job().options.deadline);
  if (!values.ok()) return values.status();
  return std::accumulate(values->begin(), values->end(), 0.0) / static_cast<double>(values->size());
}

absl::Status TimeStep(StepRunner& runner, uint64_t step, StepTimes& times) {
  if (absl::Status status = runner.FillInputs(step); !status.ok()) return status;
  const int64_t begin = MonotonicNanoseconds();
  if (absl::Status status = runner.Begin(step, /*carries=*/true); !status.ok()) return status;
  if (absl::Status status = runner.End(); !status.ok()) return status;
  if (absl::Status status = runner.CarryOutputs(); !status.ok()) return status;
  times.end = MonotonicNanoseconds();
  times.step_ms.push_back(static_cast<double>(times.end - begin) / 1e6);
  times.communication_ms.push_back(absl::ToDoubleMilliseconds(runner.timing().communication));
  return absl::OkStatus();
}

absl::Status EndStep(StepRunner& runner, StepTimes& times) {
  if (absl::Status status = runner.End(); !status.ok()) return status;
  times.end = MonotonicNanoseconds();
  times.step_ms.push_back(absl::ToDoubleMilliseconds(runner.timing().total));
  times.communication_ms.push_back(0);
  return absl::OkStatus();
}

absl::Status TimeStreamStep(StepRunner& runner, uint64_t step, bool is_first, StepTimes& times) {
  const int64_t begin = MonotonicNanoseconds();
  if (absl::Status status = runner.FillInputs(step); !status.ok()) return status;
  if (absl::Status status = runner.Begin(step, /*carries=*/true); !status.ok()) return status;
  if (absl::Status status = runner.CarryOutputs(); !status.ok()) return status;
  times.host_us.push_back(static_cast<double>(MonotonicNanoseconds() - begin) / 1e3);
  return is_first ? absl::OkStatus() : EndStep(runner, times);
}

int64_t UsedBytes(const Session& session) {
  return static_cast<int64_t>(session.context().device().used_bytes().value_or(0));
}

}  // namespace

double StepTimes::steps_per_second() const {
  return static_cast<double>(step_ms.size()) * 1e9 / static_cast<double>(std::max<int64_t>(1, end - begin));
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

absl::StatusOr<StepTimes> TimeSteps(StepRunner& runner, uint64_t begin, uint64_t end) {
  StepTimes times;
  const uint64_t reserved = std::min(end - begin, kMostReserved);
  for (std::vector<double>* values : {&times.step_ms, &times.communication_ms, &times.host_us})
    values->reserve(reserved);
  times.begin = MonotonicNanoseconds();
  for (uint64_t step = begin; step < end; ++step) {
    absl::Status status =
        runner.runs_ahead() ? TimeStreamStep(runner, step, step == begin, times) : TimeStep(runner, step, times);
    if (!status.ok()) return status;
  }
  if (runner.runs_ahead()) {
    if (absl::Status status = EndStep(runner, times); !status.ok()) return status;
  }
  return times;
}

absl::StatusOr<BenchResult> Bench(Session& session, uint64_t steps, const std::function<void()>& first_step_done) {
  absl::StatusOr<StepTimes> times = TimeSteps(session, 0, 1);
  if (!times.ok()) return times.status();
  first_step_done();
  times = TimeSteps(session, 1, kWarmUpSteps);
  if (!times.ok()) return times.status();
  const uint64_t pss = ProportionalSetSize();
  BenchResult result;
  result.device_before = UsedBytes(session);
  const uint64_t sent_before = session.communicator().sent_bytes();
  const uint64_t between_hosts_before = session.communicator().host_bytes();
  const absl::Duration hidden_before = session.communicator().hidden_time();
  times = TimeSteps(session, kWarmUpSteps, kWarmUpSteps + steps);
  if (!times.ok()) return times.status();
  const absl::Duration hidden = (session.communicator().hidden_time() - hidden_before) / static_cast<double>(steps);
  result.times = *std::move(times);
  result.device_after = UsedBytes(session);
  const uint64_t sent = (session.communicator().sent_bytes() - sent_before) / steps;
  const uint64_t between_hosts = (session.communicator().host_bytes() - between_hosts_before) / steps;
  // No rank may end before all have looked at their shares of common memory.
  absl::StatusOr<uint64_t> largest = LargestOfRanks(session, std::max(pss, ProportionalSetSize()));
  if (!largest.ok()) return largest.status();
  result.largest_pss = *largest;
  largest = LargestOfRanks(session, sent);
  if (!largest.ok()) return largest.status();
  result.sent_bytes = *largest;
  absl::StatusOr<std::vector<uint64_t>> host_bytes =
      comm::GatherValues(session.control(), between_hosts, session.job().options.deadline);
  if (!host_bytes.ok()) return host_bytes.status();
  for (uint64_t bytes : *host_bytes) result.host_bytes += bytes;
  const std::vector<double>& waits = result.times.communication_ms;
  const double exposed = std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(steps);
  for (const auto& [mean, own] :
       {std::pair(&result.exposed_ms, exposed), std::pair(&result.hidden_ms, absl::ToDoubleMilliseconds(hidden))}) {
    absl::StatusOr<double> of_ranks = MeanOfRanks(session, own);
    if (!of_ranks.ok()) return of_ranks.status();
    *mean = *of_ranks;
  }
  largest = LargestOfRanks(session, session.context().arena_bytes());
  if (!largest.ok()) return largest.status();
  result.arena_bytes = *largest;
  return result;
}

}  // namespace sgd::train
