// Timing of steps on fixed inputs.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/trace/chrome_trace.h"
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
      session.control().AllGatherBytes(absl::StrCat(value), session.job().options.deadline);
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

// The last step of this rank.
absl::Status WriteTrace(Session& session) {
  if (session.job().options.trace.empty()) return absl::OkStatus();
  absl::StatusOr<trace::JsonLog> file = trace::JsonLog::Open(session.job().options.trace);
  if (!file.ok()) return file.status();
  absl::StatusOr<const artifact::Program*> program = session.context().file().FindProgram(session.executor().program());
  if (!program.ok()) return program.status();
  std::vector<trace::TracedRun> runs;
  for (const exec::InstructionRun& run : session.executor().runs())
    runs.push_back({run.instruction, run.queue, run.begin, run.length});
  return file->WriteLine(
      trace::ChromeTraceJson(session.context().file().root(), **program, session.context().rank(), runs));
}

struct Times {
  std::vector<double> step_ms;
  std::vector<double> communication_ms;
  std::vector<double> host_us;  // of devices with queues: what giving them a step takes
  int64_t begin = 0;            // of the first step, in nanoseconds
  int64_t end = 0;              // of the last one

  double steps_per_second() const {
    return static_cast<double>(step_ms.size()) * 1e9 / static_cast<double>(std::max<int64_t>(1, end - begin));
  }
};

// One step; its time is that of the program and the carry, not of filling inputs that a training
// loop would have placed before.
absl::Status TimeStep(Session& session, uint64_t step, Times& times) {
  session.FillInputs(step);
  const int64_t begin = MonotonicNanoseconds();
  if (absl::Status status = session.Run(step, /*carries=*/true); !status.ok()) return status;
  if (absl::Status status = session.CarryOutputs(); !status.ok()) return status;
  times.end = MonotonicNanoseconds();
  times.step_ms.push_back(static_cast<double>(times.end - begin) / 1e6);
  // What waits for communication, not what runs beside compute.
  times.communication_ms.push_back(absl::ToDoubleMilliseconds(session.executor().timing().communication));
  return absl::OkStatus();
}

absl::Status EndStep(Session& session, Times& times) {
  if (absl::Status status = session.End(); !status.ok()) return status;
  times.end = MonotonicNanoseconds();
  times.step_ms.push_back(absl::ToDoubleMilliseconds(session.executor().timing().total));
  times.communication_ms.push_back(0);
  return absl::OkStatus();
}

// A device with queues is given a step while the one before it runs, as in training: the time of a step is from the end
// of the one before to its own.
absl::Status TimeQueuedStep(Session& session, uint64_t step, bool is_first, Times& times) {
  const int64_t begin = MonotonicNanoseconds();
  session.FillInputs(step);
  if (absl::Status status = session.Begin(step, /*carries=*/true); !status.ok()) return status;
  if (absl::Status status = session.CarryOutputs(); !status.ok()) return status;
  times.host_us.push_back(static_cast<double>(MonotonicNanoseconds() - begin) / 1e3);
  return is_first ? absl::OkStatus() : EndStep(session, times);
}

// Steps [begin, end), none of which is under way before or after.
absl::Status TimeSteps(Session& session, uint64_t begin, uint64_t end, Times& times) {
  times = {};
  const uint64_t reserved = std::min(end - begin, kMostReserved);
  for (std::vector<double>* values : {&times.step_ms, &times.communication_ms, &times.host_us})
    values->reserve(reserved);
  times.begin = MonotonicNanoseconds();
  for (uint64_t step = begin; step < end; ++step) {
    absl::Status status =
        session.runs_ahead() ? TimeQueuedStep(session, step, step == begin, times) : TimeStep(session, step, times);
    if (!status.ok()) return status;
  }
  return session.runs_ahead() ? EndStep(session, times) : absl::OkStatus();
}

// In use on the device, by whoever, before and after the steps that are timed.
struct DeviceMemory {
  int64_t before = 0, after = 0;
};

int64_t UsedBytes(const Session& session) {
  return static_cast<int64_t>(session.context().device().used_bytes().value_or(0));
}

// Of devices with queues: what the host spends on a step, and memory beside the plan's.
std::string QueueJson(const Session& session, const Times& times, const DeviceMemory& memory) {
  if (times.host_us.empty()) return "";
  return absl::StrCat(", \"host_us_median\": ", trace::NumberJson(Median(times.host_us)),
                      ", \"staging_bytes\": ", session.executor().staging_bytes(),
                      ", \"pinned_bytes\": ", session.executor().pinned_bytes(),
                      ", \"device_used_bytes\": ", memory.after,
                      ", \"device_growth_bytes\": ", memory.after - memory.before);
}

}  // namespace

absl::Status Bench(Session& session, StartTimes start) {
  const uint64_t steps = session.job().options.bench_steps;
  Times times;
  if (absl::Status status = TimeSteps(session, 0, 1, times); !status.ok()) return status;
  start.End("first step");
  if (absl::Status status = TimeSteps(session, 1, kWarmUpSteps, times); !status.ok()) return status;
  const uint64_t pss = ProportionalSetSize();
  DeviceMemory memory{.before = UsedBytes(session)};
  const uint64_t sent_before = session.communicator().sent_bytes();
  if (absl::Status status = TimeSteps(session, kWarmUpSteps, kWarmUpSteps + steps, times); !status.ok()) return status;
  memory.after = UsedBytes(session);
  const uint64_t sent = (session.communicator().sent_bytes() - sent_before) / steps;
  // No rank may end before all have looked at their shares of common memory.
  absl::StatusOr<uint64_t> largest_pss = LargestOfRanks(session, std::max(pss, ProportionalSetSize()));
  if (!largest_pss.ok()) return largest_pss.status();
  absl::StatusOr<uint64_t> largest_sent = LargestOfRanks(session, sent);
  if (!largest_sent.ok()) return largest_sent.status();
  if (!session.is_first_rank()) return absl::OkStatus();
  const std::string json = absl::StrCat(
      "{\"steps\": ", steps, ", \"min_ms\": ", trace::NumberJson(*std::ranges::min_element(times.step_ms)),
      ", \"median_ms\": ", trace::NumberJson(Median(times.step_ms)),
      ", \"start_to_first_step_ms\": ", trace::NumberJson(start.TotalMilliseconds()),
      ", \"start_phases_ms\": ", start.Json(), ", \"peak_pss_bytes_per_rank\": ", *largest_pss,
      ", \"comm_ms_median\": ", trace::NumberJson(Median(times.communication_ms)), ", \"sent_bytes\": ", *largest_sent,
      ", \"arena_bytes\": ", session.context().arena_bytes(),
      ", \"steps_per_second\": ", trace::NumberJson(times.steps_per_second()), QueueJson(session, times, memory), "}");
  std::puts(json.c_str());
  if (absl::Status status = WriteProfile(session); !status.ok()) return status;
  if (absl::Status status = WriteTrace(session); !status.ok()) return status;
  return FlushResults();
}

}  // namespace sgd::sgdrun
