// sgdrun: reads the command line, checks everything, then starts or joins the ranks.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"

#include "runtime/artifact/bundle.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/writer.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/shared_memory/rendezvous.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/meeting.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/launch/secret.h"
#include "runtime/launch/tcp_launch.h"
#include "runtime/process/launch.h"
#include "runtime/process/leave.h"
#include "runtime/process/shrunken_files.h"
#include "runtime/process/transport_variables.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/start_times.h"
#include "runtime/train/agreed_checkpoint.h"
#include "runtime/train/claimed_outputs.h"
#include "runtime/train/job.h"
#include "runtime/train/job_outputs.h"
#include "runtime/train/rank_device.h"
#include "runtime/train/run_modes.h"
#include "runtime/train/saved_copy.h"
#include "runtime/train/session.h"
#include "runtime/train/verification.h"
#include "runtime/watch/flight_ring.h"
#include "runtime/watch/flight_trace.h"
#include "targets/cpu/device/cpu_device.h"
#include "tools/sgdrun/early_signals.h"
#include "tools/sgdrun/measure.h"
#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/options.h"
#include "tools/sgdrun/reporter.h"
#include "tools/sgdrun/restarts.h"
#include "tools/sgdrun/topology.h"

namespace sgd::sgdrun {
namespace {

absl::StatusOr<std::unique_ptr<device::Device>> OpenCpu(const Options& options, const launch::RankContext& rank) {
  // A core for each thread: left alone, the system likes to put a thread that wakes up next to the one that woke it.
  return cpu::CpuDevice::Create({.threads = rank.threads,
                                 .cores = rank.cores,
                                 .shares_cores = rank.shares_cores,
                                 .null_kernels = options.run.null_kernels});
}

absl::Status RunRank(const Options& options, train::Job& job, const launch::RankContext& rank,
                     watch::FlightBoard* flights, trace::StartTimes start) {
  start.End("meet peers");
  const auto note = [&](const std::string& text) {
    if (rank.rank == 0) PrintNote(text);
  };
  if (absl::Status status = train::AgreeOnCheckpoint(job, *rank.control, note); !status.ok()) return status;
  const train::SessionHooks hooks{.open_cpu = [&](const launch::RankContext& rank) { return OpenCpu(options, rank); },
                                  .note = PrintNote,
                                  .flight = flights == nullptr ? nullptr : &flights->ring(rank.local_rank)};
  return train::WithSession(job, rank, hooks, start, [&](train::Session& session) -> absl::Status {
    switch (options.run.mode) {
      case train::Mode::kOnce:
        return RunAndPrint(session);
      case train::Mode::kTrain:
        return TrainAndPrint(options, session);
      case train::Mode::kBench:
        return BenchAndPrint(options, session, start);
    }
    return absl::InternalError("unknown mode");
  });
}

absl::Status PrintTopology(const Options& options) {
  absl::StatusOr<std::string> text = TopologyText(options);
  if (!text.ok()) return text.status();
  std::fputs(text->c_str(), stdout);
  return FlushResults();
}

// By name, or by the ranks that are started; of one plan, the environment says whether they fit.
absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> OpenPlan(const Options& options) {
  absl::StatusOr<artifact::Bundle> bundle = artifact::Bundle::Open(options.run.artifact);
  if (!bundle.ok()) return bundle.status();
  artifact::PlanChoice choice = options.plan;
  if (bundle->plans().size() > 1 && !choice.name.has_value()) {
    absl::StatusOr<std::optional<uint32_t>> ranks = launch::DetectRanks(options.rank_flags);
    if (!ranks.ok()) return ranks.status();
    choice.ranks = *ranks;
  }
  return bundle->Load(choice);
}

// The others, where there are any and this rank was started beside them.
absl::StatusOr<std::unique_ptr<launch::Meeting>> BeginMeeting(const Options& options,
                                                              const launch::RankEnvironment& environment,
                                                              const std::string& secret,
                                                              const launch::MeetingPlan& plan,
                                                              launch::FailurePolicy& policy) {
  if (environment.is_launcher || environment.size == 1) return nullptr;
  return launch::Meeting::Begin(environment, plan, secret, options.run.deadline, policy);
}

// Those of other hosts, whom the ranks that this process was to start would have met.
void TellOtherHosts(Restarts& restarts, const launch::RankEnvironment& environment, const std::string& secret,
                    const absl::Status& cause) {
  if (restarts.meets_hosts(environment) && !restarts.has_met()) return restarts.TellHosts(environment, secret, cause);
  if (environment.is_launcher && environment.nodes > 1 && environment.master.has_value())
    launch::ReportDeathOverTcp(environment, environment.rank, secret, cause);
}

// A rank whose artifact cannot be read, or is for another number of ranks, tells the others, who wait for it.
absl::Status FailAlone(Restarts& restarts, const absl::Status& cause, launch::FailurePolicy& policy) {
  const Options& options = restarts.options();
  const absl::StatusOr<launch::RankEnvironment> environment = launch::DetectWithoutArtifact(options.rank_flags);
  const absl::StatusOr<std::string> secret = launch::ReadSecret(options.secret_file);
  if (!environment.ok() || !secret.ok()) return cause;
  auto meeting = BeginMeeting(options, *environment, *secret, {comm::kUnknownWindow, {}}, policy);
  TellOtherHosts(restarts, *environment, *secret, cause);
  return meeting.ok() && *meeting != nullptr ? (*meeting)->Fail(cause) : cause;
}

absl::Status CheckLogs(const Options& options) {
  const std::pair<const std::string&, trace::LogStart> logs[] = {{options.log_json, LogStartOf(options)},
                                                                 {options.metrics, trace::LogStart::kReplace},
                                                                 {options.flight_recorder, trace::LogStart::kReplace},
                                                                 {options.profile, trace::LogStart::kReplace},
                                                                 {options.trace, trace::LogStart::kReplace}};
  for (const auto& [path, start] : logs) {
    absl::Status status = path.empty() ? absl::OkStatus() : trace::JsonLog::CheckWritable(path, start);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Claim(const Options& options, train::Job& job, train::ClaimedOutputs& claimed) {
  train::RunOptions run = options.run;
  // The checkpoints there are this run's own.
  if (options.resumption && !run.save.empty() && checkpoint::NewestStep(run.save)) run.resume = run.save;
  absl::StatusOr<train::ClaimedOutputs> outputs = train::ClaimedOutputs::Claim(run);
  if (!outputs.ok()) return outputs.status();
  claimed = *std::move(outputs);
  job.notes.insert(job.notes.end(), claimed.notes().begin(), claimed.notes().end());
  if (absl::Status status = CheckLogs(options); !status.ok()) return status;
  return train::CheckOutputs(job);
}

absl::StatusOr<train::Job> Prepare(Restarts& restarts, std::unique_ptr<artifact::ArtifactFile> file,
                                   const launch::RankEnvironment& environment, train::ClaimedOutputs& claimed) {
  const Options& options = restarts.options();
  train::RunOptions run = options.run;
  run.verifies_together = train::SaveGroupOf(environment).count > 1;
  absl::StatusOr<train::Job> job = train::PrepareJob(run, std::move(file), restarts.TakeKept());
  if (!job.ok()) return job;
  if (absl::Status status = restarts.CheckStarts(environment); !status.ok()) return status;
  if (absl::Status status = restarts.Keep(environment, *job); !status.ok()) return status;
  if (options.resumption && options.run.verify.steps != 0)
    PrintNote("--verify: steps after a restart are not compared with one rank");
  if (!options.resumption && !options.run.only_prepares) {
    if (absl::Status status = train::PrepareVerification(environment, *job); !status.ok()) return status;
  }
  if (options.resumption && environment.nodes == 1) return job;
  // Whoever is rank 0, or starts it, alone: a check holds the file for a moment, in which another's would find it
  // taken.
  if (environment.rank == 0) {
    if (absl::Status status = Claim(options, *job, claimed); !status.ok()) return status;
  }
  if (!options.resumption && (environment.is_launcher || environment.rank == 0)) {
    for (const std::string& note : job->notes) PrintNote(note);
  }
  return job;
}

// Memory that the ranks which this process starts share with it; null where nobody asked for it.
absl::StatusOr<std::unique_ptr<watch::FlightBoard>> MakeFlights(const Options& options,
                                                                const launch::RankEnvironment& environment) {
  if (options.flight_recorder.empty()) return nullptr;
  if (!environment.is_launcher && environment.size > 1) {
    return absl::InvalidArgumentError(
        "--flight-recorder: this rank was started by another launcher, so that nobody could read its memory after its "
        "death; expected ranks that sgdrun starts; give -n");
  }
  return watch::FlightBoard::Create(environment.is_launcher ? environment.StartedHere() : 1);
}

// Writes what the ranks of this host did last.
void WriteFlights(const Options& options, const watch::FlightBoard& flights, const train::Job& job, uint32_t first_rank,
                  const absl::Status& cause) {
  std::vector<watch::RankFlight> ranks;
  const int64_t now = SteadyNanoseconds();
  for (uint32_t rank = 0; rank < flights.ranks(); ++rank)
    ranks.push_back(watch::ReadFlight(flights.ring(rank), job.file->root(), first_rank + rank, now));
  const std::string text = watch::FlightTraceJson(ranks, first_rank, std::string(cause.message()));
  const absl::Status status = artifact::WriteFileAtomically(options.flight_recorder, text);
  if (!status.ok()) return PrintNote(absl::StrCat("--flight-recorder: ", status.message()));
  PrintNote(
      absl::StrCat("the last seconds are in ", options.flight_recorder, "; ", watch::FlightText(ranks, first_rank)));
}

// One job, of ranks that start and end together.
absl::Status RunJob(Restarts& restarts, train::ClaimedOutputs& claimed, process::ProcessPolicy& policy,
                    trace::StartTimes start) {
  const Options& options = restarts.options();
  absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file = OpenPlan(options);
  if (!file.ok()) return FailAlone(restarts, file.status(), policy);
  const uint64_t window_bytes = train::HostWindowBytes(**file);
  absl::StatusOr<launch::RankEnvironment> environment =
      launch::DetectRankEnvironment(options.rank_flags, static_cast<uint32_t>((*file)->ranks()));
  if (!environment.ok()) return FailAlone(restarts, environment.status(), policy);
  absl::StatusOr<std::string> secret = launch::ReadSecret(options.secret_file);
  if (!secret.ok()) return secret.status();
  if (restarts.meets_hosts(*environment)) {
    claimed = {};  // of host 0, which may be another one from now on
    absl::StatusOr<bool> runs = restarts.MeetHosts(*environment, *secret);
    if (!runs.ok() || !*runs) return runs.status();
    environment = launch::DetectRankEnvironment(options.rank_flags, static_cast<uint32_t>((*file)->ranks()));
    if (!environment.ok()) return environment.status();
  }
  auto meeting = BeginMeeting(options, *environment, *secret, {window_bytes, (*file)->plan()}, policy);
  if (!meeting.ok()) return meeting.status();
  absl::StatusOr<train::Job> job = artifact::WithMemoryFor(
      "what the files say", [&] { return Prepare(restarts, *std::move(file), *environment, claimed); });
  if (!job.ok()) {
    TellOtherHosts(restarts, *environment, *secret, job.status());
    return *meeting != nullptr ? (*meeting)->Fail(job.status()) : job.status();
  }
  absl::StatusOr<std::unique_ptr<watch::FlightBoard>> flights = MakeFlights(options, *environment);
  if (!flights.ok()) return *meeting != nullptr ? (*meeting)->Fail(flights.status()) : flights.status();
  start.End("open files");
  const absl::Status status = process::Launch(
      *environment,
      {.window_bytes = window_bytes,
       .plan = job->file->plan(),
       .deadline = options.run.deadline,
       .threads = options.threads,
       .comm_thread = options.comm_thread,
       .secret = *secret,
       .net_devices = options.net_devices,
       .avoided_cores = restarts.avoided_cores()},
      policy, [&](launch::RankContext& rank) { return RunRank(options, *job, rank, flights->get(), start); },
      *std::move(meeting));
  if (*flights != nullptr && !launch::EndsWell(status))
    WriteFlights(options, **flights, *job, environment->rank, status);
  return status;
}

absl::Status Run(const Options& options, trace::StartTimes start) {
  if (options.shows_topology) return PrintTopology(options);
  if (!options.measured_topology.empty())
    return MeasureTopology(options, [&](const launch::RankContext& rank) { return OpenCpu(options, rank); });
  train::ClaimedOutputs claimed;
  Restarts restarts(options);
  process::ProcessPolicy::Options reactions = {.stops_between_steps = options.run.mode == train::Mode::kTrain,
                                               .clean_up = [&] { claimed.CleanUp(); },
                                               .note = PrintNote};
  if (!options.run.resize.empty()) reactions.hang_up = [&] { return restarts.AsksToResize(); };
  if (restarts.is_on()) reactions.failed = [&](const process::Failure& failure) { restarts.Note(failure); };
  process::ProcessPolicy policy(reactions);
  absl::Status status;
  do {
    status = RunJob(restarts, claimed, policy, start);
  } while (restarts.GoesOn(status));
  restarts.TellEnd(status);
  if (restarts.is_on() && !launch::EndsWell(status)) claimed.CleanUp();
  return status;
}

}  // namespace
}  // namespace sgd::sgdrun

int main(int argc, char** argv) {
  using namespace sgd;
  using namespace sgd::sgdrun;
  artifact::ReserveStandardDescriptors();
  trace::StartTimes start = trace::StartTimes::OfThisProcess();
  // A reader that goes away and a file that may not grow further are errors of writing, not the end of this process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  process::LeaveWhenFilesShrink(argc, argv);
  process::LeaveWhenOutOfMemory();
  process::SetTransportVariables();
  EndOnSignals(/*exit_code=*/1);
  std::variant<Options, Leave> parsed = ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->exit_code == 0 ? leave->text.c_str() : artifact::ShortMessage(leave->text).c_str(),
               leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const Options& options = std::get<Options>(parsed);
  if (options.run.mode == train::Mode::kTrain) EndOnSignals(launch::kExitInterrupted);
  const absl::Status status = artifact::WithMemoryFor("this run", [&] { return Run(options, std::move(start)); });
  if (status.ok()) return 0;
  if (launch::IsInterrupted(status)) return launch::kExitInterrupted;
  PrintMessage("sgdrun: " + artifact::ShortMessage({status.message().data(), status.message().size()}));
  return 1;
}
