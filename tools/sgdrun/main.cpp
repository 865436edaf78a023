// sgdrun: reads the command line, checks everything, then starts or joins the ranks.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runtime/artifact/file_mapping.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/reader.h"
#include "runtime/comm/leave.h"
#include "runtime/comm/rendezvous.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_environment.h"
#include "tools/sgdrun/claimed_outputs.h"
#include "tools/sgdrun/early_signals.h"
#include "tools/sgdrun/job.h"
#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/options.h"
#include "tools/sgdrun/rank_device.h"
#include "tools/sgdrun/secret.h"
#include "tools/sgdrun/session.h"
#include "tools/sgdrun/start_times.h"
#include "tools/sgdrun/topology.h"

namespace sgd::sgdrun {
namespace {

absl::Status RunSession(const Job& job, Session& session, StartTimes start) {
  switch (job.options.mode) {
    case Mode::kOnce:
      return RunOnce(session);
    case Mode::kTrain:
      return Train(session);
    case Mode::kBench:
      return Bench(session, std::move(start));
  }
  return absl::InternalError("unknown mode");
}

absl::Status RunRank(const Job& job, const launch::RankContext& rank, StartTimes start) {
  start.End("meet peers");
  absl::StatusOr<std::unique_ptr<Session>> session =
      artifact::WithMemoryFor("the preparation of this rank", [&] { return Session::Create(job, rank, start); });
  if (!session.ok()) return session.status();
  const absl::Status status =
      artifact::WithMemoryFor("the steps of this rank", [&] { return RunSession(job, **session, std::move(start)); });
  if (launch::EndsWell(status)) return status;
  (*session)->communicator().EndJob(status);
  // Whoever frees memory of a device waits for what runs there, which may never end: the end of this process frees it.
  if ((*session)->IsBusy()) static_cast<void>(session->release());
  return status;
}

absl::Status PrintTopology(const Options& options) {
  absl::StatusOr<std::string> text = TopologyText(options);
  if (!text.ok()) return text.status();
  std::fputs(text->c_str(), stdout);
  return FlushResults();
}

// The others, where there are any and this rank was started beside them.
absl::StatusOr<std::unique_ptr<launch::Meeting>> BeginMeeting(const Options& options,
                                                              const launch::RankEnvironment& environment,
                                                              const std::string& secret, uint64_t window_bytes) {
  if (environment.is_launcher || environment.size == 1) return nullptr;
  return launch::Meeting::Begin(environment, window_bytes, secret, options.deadline);
}

// A rank that cannot read its artifact tells the others, who wait for it.
absl::Status FailWithoutArtifact(const Options& options, const absl::Status& cause) {
  const absl::StatusOr<launch::RankEnvironment> environment = launch::DetectWithoutArtifact(options.rank_flags);
  const absl::StatusOr<std::string> secret = ReadSecret(options.secret_file);
  if (!environment.ok() || !secret.ok()) return cause;
  auto meeting = BeginMeeting(options, *environment, *secret, comm::kUnknownWindow);
  if (meeting.ok() && *meeting != nullptr) (*meeting)->Fail(cause);
  return cause;
}

absl::StatusOr<Job> Prepare(const Options& options, std::unique_ptr<artifact::ArtifactFile> file,
                            const launch::RankEnvironment& environment, ClaimedOutputs& claimed) {
  absl::StatusOr<Job> job = PrepareJob(options, std::move(file));
  if (!job.ok()) return job;
  // Whoever is rank 0, or starts it, alone: a check holds the file for a moment, in which another's would find it
  // taken.
  if (environment.rank == 0) {
    absl::StatusOr<ClaimedOutputs> outputs = ClaimedOutputs::Claim(options);
    if (!outputs.ok()) return outputs.status();
    claimed = *std::move(outputs);
    job->notes.insert(job->notes.end(), claimed.notes().begin(), claimed.notes().end());
    if (absl::Status status = CheckOutputs(*job); !status.ok()) return status;
  }
  if (environment.is_launcher || environment.rank == 0) {
    for (const std::string& note : job->notes) std::fprintf(stderr, "sgdrun: note: %s\n", note.c_str());
  }
  return job;
}

absl::Status Run(const Options& options, StartTimes start) {
  if (options.shows_topology) return PrintTopology(options);
  absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file = artifact::ArtifactFile::Open(options.artifact);
  if (!file.ok()) return FailWithoutArtifact(options, file.status());
  const uint64_t window_bytes = HostWindowBytes(**file);
  absl::StatusOr<launch::RankEnvironment> environment =
      launch::DetectRankEnvironment(options.rank_flags, static_cast<uint32_t>((*file)->ranks()));
  if (!environment.ok()) return environment.status();
  absl::StatusOr<std::string> secret = ReadSecret(options.secret_file);
  if (!secret.ok()) return secret.status();
  auto meeting = BeginMeeting(options, *environment, *secret, window_bytes);
  if (!meeting.ok()) return meeting.status();
  ClaimedOutputs claimed;
  absl::StatusOr<Job> job = artifact::WithMemoryFor(
      "what the files say", [&] { return Prepare(options, *std::move(file), *environment, claimed); });
  if (!job.ok()) {
    if (*meeting != nullptr) (*meeting)->Fail(job.status());
    return job.status();
  }
  start.End("open files");
  return launch::Launch(
      *environment,
      {.window_bytes = window_bytes,
       .deadline = options.deadline,
       .threads = options.threads,
       .comm_thread = options.comm_thread,
       .secret = *secret,
       .stops_between_steps = options.mode == Mode::kTrain,
       .clean_up = [&] { claimed.CleanUp(); }},
      [&](launch::RankContext& rank) { return RunRank(*job, rank, start); }, *std::move(meeting));
}

}  // namespace
}  // namespace sgd::sgdrun

int main(int argc, char** argv) {
  using namespace sgd;
  using namespace sgd::sgdrun;
  StartTimes start = StartTimes::OfThisProcess();
  // A reader that goes away and a file that may not grow further are errors of writing, not the end of this process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  artifact::LeaveWhenFilesShrink();
  comm::LeaveWhenOutOfMemory();
  EndOnSignals(/*exit_code=*/1);
  std::variant<Options, Leave> parsed = ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->text.c_str(), leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const Options& options = std::get<Options>(parsed);
  if (options.mode == Mode::kTrain) EndOnSignals(launch::kExitInterrupted);
  const absl::Status status = artifact::WithMemoryFor("this run", [&] { return Run(options, std::move(start)); });
  if (status.ok()) return 0;
  if (launch::IsInterrupted(status)) return launch::kExitInterrupted;
  std::fprintf(stderr, "sgdrun: %s\n", std::string(status.message()).c_str());
  return 1;
}
