// sgdrun: reads the command line, checks everything, then starts or joins the ranks.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runtime/artifact/reader.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_environment.h"
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
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Create(job, rank, start);
  if (!session.ok()) return session.status();
  const absl::Status status = RunSession(job, **session, std::move(start));
  if (status.ok()) return status;
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

absl::Status Run(const Options& options, StartTimes start) {
  if (options.shows_topology) return PrintTopology(options);
  absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file = artifact::ArtifactFile::Open(options.artifact);
  if (!file.ok()) return file.status();
  const uint64_t window_bytes = HostWindowBytes(**file);
  absl::StatusOr<launch::RankEnvironment> environment =
      launch::DetectRankEnvironment(options.rank_flags, static_cast<uint32_t>((*file)->ranks()));
  if (!environment.ok()) return environment.status();
  absl::StatusOr<std::string> secret = ReadSecret(options.secret_file);
  if (!secret.ok()) return secret.status();
  absl::StatusOr<Job> job = PrepareJob(options, *std::move(file));
  if (!job.ok()) return job.status();
  // Whoever is rank 0, or starts it, alone: a check holds the file for a moment, in which another's would find it
  // taken.
  if (environment->rank == 0) {
    if (absl::Status status = CheckOutputs(*job); !status.ok()) return status;
  }
  if (environment->is_launcher || environment->rank == 0) {
    for (const std::string& note : job->notes) std::fprintf(stderr, "sgdrun: note: %s\n", note.c_str());
  }
  start.End("open files");
  return launch::Launch(*environment,
                        {.window_bytes = window_bytes,
                         .deadline = options.deadline,
                         .threads = options.threads,
                         .comm_thread = options.comm_thread,
                         .secret = *secret},
                        [&](launch::RankContext& rank) { return RunRank(*job, rank, start); });
}

}  // namespace
}  // namespace sgd::sgdrun

int main(int argc, char** argv) {
  using namespace sgd::sgdrun;
  StartTimes start = StartTimes::OfThisProcess();
  // A reader that goes away is an error of writing, not the end of this process.
  signal(SIGPIPE, SIG_IGN);
  std::variant<Options, Leave> parsed = ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->text.c_str(), leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  absl::Status status = Run(std::get<Options>(parsed), std::move(start));
  if (status.ok()) return 0;
  std::fprintf(stderr, "sgdrun: %s\n", std::string(status.message()).c_str());
  return 1;
}
