// Printing of times.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"
#include "runtime/train/step_timing.h"
#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/profile_table.h"

namespace sgd::sgdrun {
namespace {

// The ranks that are looked at: rank 0, and of a pipeline the first rank of each stage.
bool IsShown(const train::Session& session) {
  return session.context().rank() % session.context().file().ranks_of_stage() == 0;
}

// The texts of all ranks, on rank 0; of a pipeline all ranks call it, else the text is that of rank 0.
absl::StatusOr<std::vector<std::string>> OfAllStages(train::Session& session, const std::string& text) {
  if (session.context().stage() < 0) return std::vector<std::string>{text};
  return session.control().GatherBytes(text, session.job().options.deadline);
}

absl::StatusOr<const artifact::Program*> ProgramOf(const train::Session& session) {
  return session.context().file().FindProgram(session.executor().program(), session.context().stage());
}

// One line an instruction of the program, in order, stage by stage.
absl::Status WriteProfile(const Options& options, train::Session& session) {
  if (options.profile.empty()) return absl::OkStatus();
  absl::StatusOr<const artifact::Program*> program = ProgramOf(session);
  if (!program.ok()) return program.status();
  const std::vector<absl::Duration>& times = session.executor().instruction_times();
  const std::vector<uint64_t> executions = artifact::ExecutionsOf(**program);
  std::string lines;
  for (uint32_t i = 0; i < times.size() && IsShown(session); ++i) {
    if (times[i] == absl::InfiniteDuration()) continue;
    std::string line =
        trace::InstructionTimeJson(session.context().file().root(), **program, i, executions[i], times[i]);
    if (const int32_t stage = session.context().stage(); stage >= 0) {
      line.pop_back();
      absl::StrAppend(&line, ", \"stage\": ", stage, "}");
    }
    absl::StrAppend(&lines, line, "\n");
  }
  absl::StatusOr<std::vector<std::string>> all = OfAllStages(session, lines);
  if (!all.ok() || !session.is_first_rank()) return all.status();
  absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(options.profile, trace::LogStart::kReplace);
  if (!log.ok()) return log.status();
  const std::vector<std::string> every_line = absl::StrSplit(absl::StrJoin(*all, ""), '\n', absl::SkipEmpty());
  for (const std::string& line : every_line) {
    if (absl::Status status = log->WriteLine(line); !status.ok()) return status;
  }
  // Standard output has the one line of --bench.
  std::fputs(ProfileTable(every_line).c_str(), stderr);
  return absl::OkStatus();
}

// The last step, a process of the timeline for each rank that is looked at.
absl::Status WriteTrace(const Options& options, train::Session& session) {
  if (options.trace.empty()) return absl::OkStatus();
  absl::StatusOr<const artifact::Program*> program = ProgramOf(session);
  if (!program.ok()) return program.status();
  const exec::Executor& executor = session.executor();
  // Stages begin a step one after the other.
  const int64_t begin = absl::ToUnixNanos(executor.runs_begin());
  int64_t first = begin;
  if (session.context().stage() >= 0) {
    absl::StatusOr<std::vector<std::string>> begins =
        session.control().AllGatherBytes(absl::StrCat(begin), session.job().options.deadline);
    if (!begins.ok()) return begins.status();
    for (const std::string& text : *begins) {
      int64_t other = 0;
      if (absl::SimpleAtoi(text, &other)) first = std::min(first, other);
    }
  }
  std::vector<trace::TracedRun> runs;
  for (const exec::InstructionRun& run : executor.runs())
    runs.push_back({run.instruction, run.stream, run.begin + absl::Nanoseconds(begin - first), run.length});
  std::string events;
  if (IsShown(session))
    events = trace::ChromeTraceEvents(session.context().file().root(), **program, session.context().rank(), runs);
  absl::StatusOr<std::vector<std::string>> all = OfAllStages(session, events);
  if (!all.ok() || !session.is_first_rank()) return all.status();
  absl::StatusOr<trace::JsonLog> file = trace::JsonLog::Open(options.trace, trace::LogStart::kReplace);
  if (!file.ok()) return file.status();
  const artifact::ArtifactFile& artifact = session.context().file();
  return file->WriteLine(trace::ChromeTraceJson(*all, {{"artifact", artifact::HexHash(artifact.hash())},
                                                       {"plan", artifact.plan()},
                                                       {"program", (*program)->name()->str()}}));
}

// Of CPU ranks on several hosts: the bytes between them in a step, from all of them together, and their waits.
std::string HostJson(const train::Session& session, const train::BenchResult& result) {
  if (!session.control().spans_hosts() || session.has_streams()) return "";
  return absl::StrCat(", \"between_hosts_bytes\": ", result.host_bytes,
                      ", \"exposed_comm_ms\": ", trace::NumberJson(result.exposed_ms),
                      ", \"hidden_comm_ms\": ", trace::NumberJson(result.hidden_ms));
}

// Of devices with streams: what the host spends on a step, and memory beside the plan's.
std::string StreamJson(const train::Session& session, const train::BenchResult& result) {
  if (result.times.host_us.empty()) return "";
  return absl::StrCat(", \"host_us_median\": ", trace::NumberJson(train::Median(result.times.host_us)),
                      ", \"staging_bytes\": ", session.executor().staging_bytes(),
                      ", \"pinned_bytes\": ", session.executor().pinned_bytes(),
                      ", \"host_bytes\": ", session.context().host_bytes(),
                      ", \"device_used_bytes\": ", result.device_after,
                      ", \"device_growth_bytes\": ", result.device_after - result.device_before);
}

}  // namespace

absl::Status BenchAndPrint(const Options& options, train::Session& session, trace::StartTimes start) {
  const uint64_t steps = options.run.bench_steps;
  absl::StatusOr<train::BenchResult> result = train::Bench(session, steps, [&] { start.End("first step"); });
  if (!result.ok()) return result.status();
  if (session.context().stage() >= 0 || session.is_first_rank()) {
    if (absl::Status status = WriteProfile(options, session); !status.ok()) return status;
    if (absl::Status status = WriteTrace(options, session); !status.ok()) return status;
  }
  if (!session.is_first_rank()) return absl::OkStatus();
  const train::StepTimes& times = result->times;
  const std::string json = absl::StrCat(
      "{\"steps\": ", steps, ", \"min_ms\": ", trace::NumberJson(*std::ranges::min_element(times.step_ms)),
      ", \"median_ms\": ", trace::NumberJson(train::Median(times.step_ms)),
      ", \"start_to_first_step_ms\": ", trace::NumberJson(start.TotalMilliseconds()),
      ", \"start_phases_ms\": ", start.Json(), ", \"peak_pss_bytes_per_rank\": ", result->largest_pss,
      ", \"comm_ms_median\": ", trace::NumberJson(train::Median(times.communication_ms)),
      ", \"sent_bytes\": ", result->sent_bytes, HostJson(session, *result), ", \"arena_bytes\": ", result->arena_bytes,
      ", \"steps_per_second\": ", trace::NumberJson(times.steps_per_second()), StreamJson(session, *result), "}");
  std::puts(json.c_str());
  return FlushResults();
}

}  // namespace sgd::sgdrun
