// Timing of steps on fixed inputs.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {
namespace {

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

// The largest of the ranks' values.
absl::StatusOr<uint64_t> LargestOfRanks(Session& session, uint64_t value) {
  absl::StatusOr<std::vector<std::string>> all =
      session.communicator().AllGatherBytes(absl::StrCat(value), session.job().options.deadline);
  if (!all.ok()) return all.status();
  uint64_t largest = 0;
  for (const std::string& text : *all) {
    uint64_t other = 0;
    if (absl::SimpleAtoi(text, &other)) largest = std::max(largest, other);
  }
  return largest;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// One line an instruction of this rank's program, in order.
absl::Status WriteProfile(Session& session) {
  if (session.job().options.profile.empty()) return absl::OkStatus();
  absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(session.job().options.profile);
  if (!log.ok()) return log.status();
  absl::StatusOr<const artifact::Program*> program = session.context().file().FindProgram(session.executor().program());
  if (!program.ok()) return program.status();
  const std::vector<absl::Duration>& times = session.executor().instruction_times();
  for (uint32_t i = 0; i < times.size(); ++i) {
    if (times[i] == absl::InfiniteDuration()) continue;
    absl::Status status =
        log->WriteLine(trace::InstructionTimeJson(session.context().file().root(), **program, i, times[i]));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

struct Times {
  std::vector<double> step_ms;
  std::vector<double> communication_ms;
};

// One step; its time is that of the program and the carry, not of filling inputs that a training
// loop would have placed before.
absl::Status TimeStep(Session& session, uint64_t step, Times& times) {
  session.FillInputs(step);
  const int64_t begin = MonotonicNanoseconds();
  if (absl::Status status = session.Run(step); !status.ok()) return status;
  if (absl::Status status = session.CarryOutputs(); !status.ok()) return status;
  times.step_ms.push_back(static_cast<double>(MonotonicNanoseconds() - begin) / 1e6);
  // What waits for communication, not what runs beside compute.
  times.communication_ms.push_back(absl::ToDoubleMilliseconds(session.executor().timing().communication));
  return absl::OkStatus();
}

}  // namespace

absl::Status Bench(Session& session, StartTimes start) {
  const uint64_t steps = session.job().options.bench_steps;
  uint64_t pss = 0;
  uint64_t sent_before = 0;
  Times times;
  for (uint64_t step = 0; step < kWarmUpSteps + steps; ++step) {
    if (step == kWarmUpSteps) {
      pss = ProportionalSetSize();
      times = {};
      times.step_ms.reserve(std::min(steps, kMostReserved));
      times.communication_ms.reserve(std::min(steps, kMostReserved));
      sent_before = session.communicator().sent_bytes();
    }
    if (absl::Status status = TimeStep(session, step, times); !status.ok()) return status;
    if (step == 0) start.End("first step");
  }
  const uint64_t sent = (session.communicator().sent_bytes() - sent_before) / steps;
  // No rank may end before all have looked at their shares of common memory.
  absl::StatusOr<uint64_t> largest_pss = LargestOfRanks(session, std::max(pss, ProportionalSetSize()));
  if (!largest_pss.ok()) return largest_pss.status();
  absl::StatusOr<uint64_t> largest_sent = LargestOfRanks(session, sent);
  if (!largest_sent.ok()) return largest_sent.status();
  if (!session.is_first_rank()) return absl::OkStatus();
  const std::string json =
      absl::StrCat("{\"steps\": ", steps, ", \"min_ms\": ", trace::NumberJson(*std::ranges::min_element(times.step_ms)),
                   ", \"median_ms\": ", trace::NumberJson(Median(times.step_ms)),
                   ", \"start_to_first_step_ms\": ", trace::NumberJson(start.TotalMilliseconds()),
                   ", \"start_phases_ms\": ", start.Json(), ", \"peak_pss_bytes_per_rank\": ", *largest_pss,
                   ", \"comm_ms_median\": ", trace::NumberJson(Median(times.communication_ms)),
                   ", \"sent_bytes\": ", *largest_sent, ", \"arena_bytes\": ", session.context().arena_bytes(), "}");
  std::puts(json.c_str());
  if (absl::Status status = WriteProfile(session); !status.ok()) return status;
  return FlushResults();
}

}  // namespace sgd::sgdrun
