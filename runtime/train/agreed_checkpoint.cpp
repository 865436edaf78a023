// Rounds: in each, ranks have one checkpoint each, and tell of what step it is and what is wrong with their files of
// it.
#include "runtime/train/agreed_checkpoint.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/train/verification.h"

namespace sgd::train {
namespace {

struct Verdict {
  bool resumes = false;  // a checkpoint that ranks verify
  uint64_t step = 0;
  std::string damage;  // of this rank's files; empty: none
};

std::string Encode(const Verdict& verdict) {
  return absl::StrCat(verdict.resumes ? 1 : 0, "\n", verdict.step, "\n", verdict.damage);
}

absl::StatusOr<Verdict> Decode(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('\n', 2));
  Verdict verdict;
  if (parts.size() != 3 || !absl::SimpleAtob(parts[0], &verdict.resumes) || !absl::SimpleAtoi(parts[1], &verdict.step))
    return absl::InternalError("a rank told of its checkpoint in another form");
  verdict.damage = parts[2];
  return verdict;
}

std::string VerifyFilesOf(const Job& job, const comm::Control& control) {
  const auto is_own = [&](uint32_t file, uint32_t files) {
    return VerifierOf(file, files, control.size()) == control.rank();
  };
  const absl::Status status = checkpoint::VerifyFiles(*job.unverified, is_own);
  return std::string(status.message());
}

// Keeps everything that was prepared before ranks started and does not depend on the state.
absl::Status PrepareAgain(checkpoint::Checkpoint checkpoint, Job& job) {
  RunOptions options = job.options;
  options.resume = checkpoint.path;
  absl::StatusOr<Job> again = PrepareJob(options, std::move(job.file));
  if (!again.ok()) return again.status();
  // The last step of a run that was interrupted stays what it was.
  if (options.past_restarts != 0) again->options.steps += job.first_step - again->first_step;
  again->options.resume = std::move(job.options.resume);
  again->host = job.host;
  again->snapshots = std::move(job.snapshots);
  again->saved_copy = std::move(job.saved_copy);
  again->replacements = std::move(job.replacements);
  again->replacement = std::move(job.replacement);
  again->save_group = job.save_group;
  again->agreed_step = std::move(job.agreed_step);
  again->verification = std::move(job.verification);
  if (again->verification != nullptr) {
    if (absl::Status status = PrepareOneRankAgain(checkpoint.path, *again->verification); !status.ok()) return status;
  }
  job = *std::move(again);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<AgreedStep>> AgreedStep::Create() {
  void* memory =
      mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--resume: no memory to share with ranks: ", std::strerror(errno)));
  }
  return std::shared_ptr<AgreedStep>(new AgreedStep(static_cast<std::atomic<uint64_t>*>(memory)));
}

AgreedStep::~AgreedStep() { munmap(step_, sizeof(*step_)); }

std::optional<uint64_t> AgreedStep::step() const {
  const uint64_t step = step_->load();
  return step == 0 ? std::nullopt : std::optional(step - 1);
}

uint32_t VerifierOf(uint32_t file, uint32_t files, uint32_t ranks) {
  return static_cast<uint32_t>(uint64_t{file} * ranks / files);
}

absl::Status AgreeOnCheckpoint(Job& job, comm::Control& control, const std::function<void(const std::string&)>& note) {
  const std::string directory = job.options.resume;
  while (job.options.verifies_together) {
    const Verdict own = {job.unverified.has_value(), job.first_step, job.unverified ? VerifyFilesOf(job, control) : ""};
    const absl::StatusOr<std::vector<std::string>> all = control.AllGatherBytes(Encode(own), job.options.deadline);
    if (!all.ok()) return all.status();
    uint64_t oldest = own.step, newest = own.step;
    std::string damage;
    bool do_all_resume = true;
    for (const std::string& text : *all) {
      const absl::StatusOr<Verdict> verdict = Decode(text);
      if (!verdict.ok()) return verdict.status();
      oldest = std::min(oldest, verdict->step);
      newest = std::max(newest, verdict->step);
      if (damage.empty()) damage = verdict->damage;
      do_all_resume = do_all_resume && verdict->resumes;
    }
    // Ranks that do not run the same thing are refused later, with the difference.
    if (!do_all_resume) break;
    if (damage.empty() && oldest == newest) break;
    if (damage.empty())
      damage = absl::StrCat(directory, ": not all ranks see a whole checkpoint after more than ", oldest, " steps");
    if (checkpoint::IsCheckpoint(directory)) return absl::DataLossError(damage);
    // Of different ones, the oldest is what all may have.
    const uint64_t below = oldest == newest ? oldest : oldest + 1;
    absl::StatusOr<checkpoint::Checkpoint> before =
        checkpoint::OpenCheckpoint(directory, checkpoint::Depth::kSizes, below);
    if (!before.ok())
      return absl::Status(before.status().code(), absl::StrCat(damage, "; ", before.status().message()));
    note(absl::StrCat(damage, "; going on from the checkpoint before, ", before->path));
    if (absl::Status status = PrepareAgain(*std::move(before), job); !status.ok()) return status;
  }
  if (job.agreed_step != nullptr) job.agreed_step->Set(job.first_step);
  return absl::OkStatus();
}

}  // namespace sgd::train
