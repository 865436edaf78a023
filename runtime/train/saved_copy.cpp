// One group has whole tensors in its file; several have the pieces that their own ranks hold.
#include "runtime/train/saved_copy.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/checkpoint/file_plan.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/train/host_shares.h"
#include "runtime/train/kept_state.h"
#include "runtime/watch/places.h"

namespace sgd::train {
namespace {

constexpr absl::Duration kSeenWithin = absl::Seconds(10);  // on file systems whose hosts keep what they have seen
constexpr absl::Duration kLookPause = absl::Milliseconds(10);

bool IsSeen(const std::string& path) {
  const absl::Time end = SteadyNow() + kSeenWithin;
  while (access(path.c_str(), F_OK) != 0) {
    if (SteadyNow() > end) return false;
    absl::SleepFor(kLookPause);
  }
  return true;
}

// Of a rank: its host's name, with a first character that says whether it sees the folder.
constexpr char kSees = '+', kSeesNot = '-';

}  // namespace

SaveGroup SaveGroupOf(const launch::RankEnvironment& environment) {
  if (!environment.is_launcher) return {environment.rank, environment.size, environment.rank, 1};
  const uint32_t ranks = environment.StartedHere();
  return {environment.rank / ranks, environment.nodes, environment.rank, ranks};
}

absl::Status MakeSavedCopy(const launch::RankEnvironment& environment, Job& job) {
  const RunOptions& options = job.options;
  if (options.save.empty()) return absl::OkStatus();
  job.save_group = SaveGroupOf(environment);
  const SaveGroup& group = job.save_group;
  const bool saves_between_steps = options.save_every != 0 || options.mtbf != absl::ZeroDuration();
  // A compressed file is written from memory, so that the disk need not have room for one that is not.
  if (group.count == 1 && !saves_between_steps && options.save_zstd == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<checkpoint::SharedSnapshot>> made =
      group.count == 1
          ? checkpoint::SharedSnapshot::Create(StateSpecs(job), group.ranks)
          : checkpoint::SharedSnapshot::Create(
                checkpoint::PlanFile(group.first_rank, group.ranks, [&](uint32_t rank) { return StateOf(job, rank); }),
                group.ranks);
  if (!made.ok()) return made.status();
  job.saved_copy = *std::move(made);
  return absl::OkStatus();
}

absl::Status CheckFolderIsShared(const std::string& directory, const SaveGroup& group, comm::Control& control,
                                 absl::Duration deadline) {
  std::string mine;
  if (control.rank() == 0) {
    mine = absl::StrCat(".shared-", watch::HostName(), "-", getpid());
    absl::Status status = artifact::ReplaceFile(absl::StrCat(directory, "/", mine), "", 0644);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::vector<std::string>> marks = control.AllGatherBytes(mine, deadline);
  if (!marks.ok()) return marks.status();
  const std::string mark = absl::StrCat(directory, "/", (*marks)[0]);
  const bool is_seen = control.rank() != group.first_rank || IsSeen(mark);
  const absl::StatusOr<std::vector<std::string>> seen =
      control.AllGatherBytes(absl::StrCat(std::string(1, is_seen ? kSees : kSeesNot), watch::HostName()), deadline);
  if (control.rank() == 0) unlink(mark.c_str());
  if (!seen.ok()) return seen.status();
  for (size_t rank = 0; rank < seen->size(); ++rank) {
    if ((*seen)[rank].starts_with(kSees)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "--save ", directory, ": rank ", rank, " on ", (*seen)[rank].substr(1), " does not see what rank 0 on ",
        (*seen)[0].substr(1), " has written there; expected a folder that all hosts share; give one"));
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
