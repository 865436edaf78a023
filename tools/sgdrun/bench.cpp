// Printing of times.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"
#include "runtime/train/step_timing.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {
namespace {

// One line an instruction of this rank's program, in order.
absl::Status WriteProfile(const Options& options, train::Session& session) {
  if (options.profile.empty()) return absl::OkStatus();
  absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(options.profile);
  if (!log.ok()) return log.status();
  absl::StatusOr<const artifact::Program*> program =
      session.context().file().FindProgram(session.executor().program(), session.context().stage());
  if (!program.ok()) return program.status();
  const std::vector<absl::Duration>& times = session.executor().instruction_times();
  const std::vector<uint64_t> executions = artifact::ExecutionsOf(**program);
  for (uint32_t i = 0; i < times.size(); ++i) {
    if (times[i] == absl::InfiniteDuration()) continue;
    absl::Status status = log->WriteLine(
        trace::InstructionTimeJson(session.context().file().root(), **program, i, executions[i], times[i]));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The last step of this rank.
absl::Status WriteTrace(const Options& options, train::Session& session) {
  if (options.trace.empty()) return absl::OkStatus();
  absl::StatusOr<trace::JsonLog> file = trace::JsonLog::Open(options.trace);
  if (!file.ok()) return file.status();
  absl::StatusOr<const artifact::Program*> program =
      session.context().file().FindProgram(session.executor().program(), session.context().stage());
  if (!program.ok()) return program.status();
  std::vector<trace::TracedRun> runs;
  for (const exec::InstructionRun& run : session.executor().runs())
    runs.push_back({run.instruction, run.stream, run.begin, run.length});
  return file->WriteLine(
      trace::ChromeTraceJson(session.context().file().root(), **program, session.context().rank(), runs));
}

// Of devices with streams: what the host spends on a step, and memory beside the plan's.
std::string StreamJson(const train::Session& session, const train::BenchResult& result) {
  if (result.times.host_us.empty()) return "";
  return absl::StrCat(", \"host_us_median\": ", trace::NumberJson(train::Median(result.times.host_us)),
                      ", \"staging_bytes\": ", session.executor().staging_bytes(),
                      ", \"pinned_bytes\": ", session.executor().pinned_bytes(),
                      ", \"device_used_bytes\": ", result.device_after,
                      ", \"device_growth_bytes\": ", result.device_after - result.device_before);
}

}  // namespace

absl::Status BenchAndPrint(const Options& options, train::Session& session, trace::StartTimes start) {
  const uint64_t steps = options.run.bench_steps;
  absl::StatusOr<train::BenchResult> result = train::Bench(session, steps, [&] { start.End("first step"); });
  if (!result.ok()) return result.status();
  if (!session.is_first_rank()) return absl::OkStatus();
  const train::StepTimes& times = result->times;
  const std::string json = absl::StrCat(
      "{\"steps\": ", steps, ", \"min_ms\": ", trace::NumberJson(*std::ranges::min_element(times.step_ms)),
      ", \"median_ms\": ", trace::NumberJson(train::Median(times.step_ms)),
      ", \"start_to_first_step_ms\": ", trace::NumberJson(start.TotalMilliseconds()),
      ", \"start_phases_ms\": ", start.Json(), ", \"peak_pss_bytes_per_rank\": ", result->largest_pss,
      ", \"comm_ms_median\": ", trace::NumberJson(train::Median(times.communication_ms)),
      ", \"sent_bytes\": ", result->sent_bytes, ", \"arena_bytes\": ", result->arena_bytes,
      ", \"steps_per_second\": ", trace::NumberJson(times.steps_per_second()), StreamJson(session, *result), "}");
  std::puts(json.c_str());
  if (absl::Status status = WriteProfile(options, session); !status.ok()) return status;
  if (absl::Status status = WriteTrace(options, session); !status.ok()) return status;
  return FlushResults();
}

}  // namespace sgd::sgdrun
