// Refusals first, then the other plan, then memory.
#include "runtime/train/verification.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/bundle.h"
#include "runtime/launch/memory_quota.h"
#include "runtime/text/amounts.h"
#include "runtime/train/memory_need.h"
#include "runtime/train/saved_copy.h"
#include "runtime/train/verified_tensors.h"

namespace sgd::train {
namespace {

// Bytes of rank 0 for all tensors of a step, besides shared memory: results of all ranks and of one, each with and
// without noise.
constexpr uint64_t kCopies = 4;

absl::Status Refused(const Job& job, const std::string& text) {
  return absl::FailedPreconditionError(absl::StrCat(job.options.artifact, ": --verify: ", text));
}

absl::Status CheckPlan(const Job& job) {
  if (job.file->ranks() == 1)
    return Refused(job, absl::StrCat("plan '", job.file->plan(),
                                     "' is for one rank; expected one for several, to compare with one rank; give -n"));
  if (job.file->root().target()->string_view() != "cpu") {
    return Refused(job, absl::StrCat("plan '", job.file->plan(), "' is for ", job.file->root().target()->str(),
                                     ", whose instructions cannot be observed; expected one for cpu; compile with "
                                     "--target cpu and verify that artifact"));
  }
  for (const data::InputType& input : job.program.inputs) {
    if (input.role != artifact::InputRole::CompressionError) continue;
    return Refused(job, absl::StrCat("plan '", job.file->plan(), "' compresses gradients, and owes their errors in '",
                                     ShortName(input.name),
                                     "', which is more than rounding; expected gradients as they are; verify the same "
                                     "recipe without \"compress\""));
  }
  return absl::OkStatus();
}

// "data=1,model=1".
std::string MeshOfOne(const Job& job) {
  return absl::StrJoin(*job.file->root().mesh(), ",", [](std::string* text, const artifact::MeshAxis* axis) {
    absl::StrAppend(text, axis->name()->str(), "=1");
  });
}

absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> OpenOneRank(const Job& job) {
  absl::StatusOr<artifact::Bundle> bundle = artifact::Bundle::Open(job.options.artifact);
  if (!bundle.ok()) return bundle.status();
  const auto is_for_one = [](const artifact::Plan& plan) { return plan.ranks == 1; };
  if (std::ranges::none_of(bundle->plans(), is_for_one)) {
    return Refused(
        job, absl::StrCat("has no plan for one rank; expected one beside ", artifact::PlansText(bundle->plans()),
                          "; compile both: sgdc MODEL --mesh ", artifact::PlanNameOf(job.file->root()), " --mesh ",
                          MeshOfOne(job), " -o ", job.options.artifact,
                          ", or with two recipes, the second one with axes of size 1 and no stages"));
  }
  artifact::PlanChoice choice;
  choice.ranks = 1;
  return bundle->Load(choice);
}

RunOptions OptionsOfOne(const RunOptions& options) {
  RunOptions of_one = options;
  of_one.steps = std::min(options.steps, options.verify.steps);
  of_one.verify = {}, of_one.guard = {}, of_one.keep = {};
  of_one.outputs.clear(), of_one.save.clear(), of_one.save_weights.clear(), of_one.resize.clear();
  of_one.eval_data.clear();
  of_one.eval_every = of_one.save_every = of_one.restarts = of_one.peer_copies = 0;
  of_one.peer_copies_by_cost = false;
  of_one.mtbf = absl::ZeroDuration();
  return of_one;
}

absl::Status CheckCounterparts(const Job& job, const std::vector<VerifiedTensor>& tensors, const Job& one) {
  for (const VerifiedTensor& tensor : tensors) {
    if (CounterpartOf(job, tensor, one)) continue;
    return Refused(job, absl::StrCat("plan '", one.file->plan(), "' has no tensor '", NameOf(job, tensor),
                                     "' of the type and role that it has in plan '", job.file->plan(),
                                     "'; expected plans of one training; compile them from recipes that differ in how "
                                     "tensors are sharded alone"));
  }
  return absl::OkStatus();
}

// Of the host of rank 0, which starts `group`.
absl::Status CheckMemory(const Job& job, const SaveGroup& group, const std::vector<data::TensorSpec>& specs,
                         const Job& one) {
  uint64_t bytes = 0;
  for (const data::TensorSpec& spec : specs) {
    uint64_t of_tensor = 0;
    data::TensorBytes(spec.element, spec.dims, of_tensor);
    bytes += of_tensor;
  }
  uint64_t needed = NeedOf(one, 0).total() + (kCopies + 1) * bytes;
  for (uint32_t rank = 0; rank < group.ranks; ++rank) needed += NeedOf(job, rank).total();
  const uint64_t available = launch::HostMemoryBytes();
  if (needed <= available) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(job.options.artifact, ": --verify: all ranks, one rank beside them (", NeedOf(one, 0).Text(),
                   ") and copies of their results need ", text::BytesText(needed), ", and this host has ",
                   text::BytesText(available), "; verify a smaller model or batch of the same recipe"));
}

}  // namespace

absl::Status PrepareVerification(const launch::RankEnvironment& environment, Job& job) {
  if (job.options.verify.steps == 0) return absl::OkStatus();
  if (absl::Status status = CheckPlan(job); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file = OpenOneRank(job);
  if (!file.ok()) return file.status();
  absl::StatusOr<Job> one = PrepareJob(OptionsOfOne(job.options), *std::move(file));
  if (!one.ok()) return one.status();
  const std::vector<VerifiedTensor> tensors = VerifiedTensors(job);
  const std::vector<data::TensorSpec> specs = SpecsOf(job, tensors);
  if (absl::Status status = CheckCounterparts(job, tensors, *one); !status.ok()) return status;
  const SaveGroup group = SaveGroupOf(environment);
  auto verification = std::make_shared<Verification>(Verification{
      .one_rank = std::make_unique<Job>(*std::move(one)), .shared = nullptr, .is_gathered = group.count > 1});
  if (group.index == 0) {
    if (absl::Status status = CheckMemory(job, group, specs, *verification->one_rank); !status.ok()) return status;
    auto shared = checkpoint::SharedSnapshot::Create(specs, static_cast<uint32_t>(job.file->ranks()));
    if (!shared.ok()) return shared.status();
    verification->shared = *std::move(shared);
  }
  job.verification = std::move(verification);
  return absl::OkStatus();
}

absl::Status PrepareOneRankAgain(const std::string& checkpoint, Verification& verification) {
  RunOptions options = verification.one_rank->options;
  options.resume = checkpoint;
  absl::StatusOr<Job> again = PrepareJob(options, std::move(verification.one_rank->file));
  if (!again.ok()) return again.status();
  verification.one_rank = std::make_unique<Job>(*std::move(again));
  return absl::OkStatus();
}

}  // namespace sgd::train
