// Carry, then what fills each input, then the other programs, then outputs.
#include "runtime/train/job.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"
#include "runtime/train/carry_text.h"
#include "runtime/train/eval_plan.h"
#include "runtime/train/self_started.h"
#include "runtime/train/step_judge.h"
#include "runtime/train/init_plan.h"
#include "runtime/train/initial_state.h"
#include "runtime/train/job_feed.h"
#include "runtime/train/job_outputs.h"
#include "runtime/train/weights_saver.h"

namespace sgd::train {
namespace {

absl::StatusOr<CarryRequest> RequestOf(const RunOptions& options, const ProgramView& program) {
  if (!options.carry.empty()) return ParseCarry(options.carry, program);
  if (!options.carry_json.empty()) return ReadCarryFile(options.carry_json, program);
  return CarryRequest{};
}

// The flag because of which somebody will look at the state after a step; empty when nobody will.
std::string PurposeOfState(const RunOptions& options) {
  if (options.only_evaluates) return "";
  if (options.steps > 1) return absl::StrCat("--steps ", options.steps);
  if (options.only_prepares) return "a run of several steps, which --steps 0 checks,";
  if (!options.save.empty()) return "--save";
  if (!options.save_weights.empty()) return "--save-weights";
  if (!options.resume.empty()) return "--resume";
  return options.eval_every == 1 ? "--eval-every" : "";
}

// The feed is known by now.
absl::Status CheckCarry(const Job& job, const CarryRequest& request, const CarryPlan& plan) {
  const std::string purpose = PurposeOfState(job.options);
  if (job.options.mode != Mode::kTrain || purpose.empty()) return absl::OkStatus();
  std::set<size_t> fed;
  if (job.feed != nullptr) fed.insert(job.feed->inputs().begin(), job.feed->inputs().end());
  absl::Status status = CheckCarryKnown(job.program, request, plan, fed, purpose);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(job.options.artifact, ": ", status.message()));
}

std::string HashOf(const std::vector<std::string>& lines) {
  const std::string text = absl::StrJoin(lines, "");
  absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return hash.ok() ? artifact::HexHash(*hash) : "";
}

// Of programs for other ranks, which may have their tensors in another order, the hash is the same.
void HashCarry(Job& job) {
  std::vector<std::string> lines;
  // Compression may change from run to run of a training.
  for (const auto& [output, input] : job.carry) {
    if (StartsFromZeros(job.program.inputs[input])) continue;
    lines.push_back(absl::StrCat(job.program.outputs[output].name, " becomes ", job.program.inputs[input].name, "\n"));
  }
  job.ordered_carry_hash = HashOf(lines);
  std::ranges::sort(lines);
  job.carry_hash = HashOf(lines);
}

// Of a host whose ranks get the state from others.
absl::Status TakePoint(const checkpoint::TrainingPoint& point, Job& job) {
  job.resumed_feed_text = point.feed;
  job.first_step = point.step;
  job.seed = point.seed;
  job.is_without_state = true;
  return absl::OkStatus();
}

absl::Status TakeKept(KeptState kept, bool has_carry_flag, Job& job) {
  job.has_unsaved = true;
  job.without_state = std::move(kept.without_state);
  return kept.copy ? TakeState(*std::move(kept.copy), has_carry_flag, job) : TakePoint(kept.point, job);
}

absl::Status FillJob(std::optional<KeptState> kept, Job& job) {
  absl::StatusOr<CarryRequest> request = RequestOf(job.options, job.program);
  if (!request.ok()) return request.status();
  absl::StatusOr<CarryPlan> plan = PlanCarry(job.program, *request);
  if (!plan.ok()) return plan.status();
  if (job.options.mode != Mode::kOnce) job.carry = plan->pairs;
  HashCarry(job);
  job.seed = job.options.seed.value_or(0);
  for (const std::string* path : {&job.options.inputs, &job.options.init}) {
    if (absl::Status status = TakeFile(*path, job); !status.ok()) return status;
  }
  absl::Status taken =
      kept ? TakeKept(*std::move(kept), request->is_given(), job) : TakeCheckpoint(request->is_given(), job);
  if (!taken.ok()) return taken;
  if (absl::Status status = OpenFeed(job); !status.ok()) return status;
  if (absl::Status status = CheckCarry(job, *request, *plan); !status.ok()) return status;
  if (!job.options.save_weights.empty()) {
    if (absl::Status status = CheckHasWeights(job.program); !status.ok()) return status;
  }
  NoteOtherData(job);
  NoteForgottenFeeds(job);
  NoteUnchangedState(job, request->kept);
  if (job.options.mode == Mode::kTrain) {
    if (absl::Status status = PlanInit(job); !status.ok()) return status;
    if (absl::Status status = PlanEval(job); !status.ok()) return status;
  }
  if (absl::Status status = CheckComplete(job); !status.ok()) return status;
  NoteSources(job);
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (!job.initial[i] && StartsFromSeed(job.program.inputs[i]))
      job.notes.push_back(absl::StrCat(InputText(job.program, i), " starts from --seed ", job.seed));
  }
  if (absl::Status status = ChooseOutputs(job); !status.ok()) return status;
  return CheckGuardLimits(job);
}

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kOnce:
      return "one run";
    case Mode::kTrain:
      return "training";
    case Mode::kBench:
      return "benchmark";
  }
  return "unknown";
}

}  // namespace

bool Job::IsCarried(size_t input) const {
  return std::ranges::any_of(carry, [&](const auto& pair) { return pair.second == input; });
}

bool Job::IsFed(size_t input) const {
  return feed != nullptr && std::ranges::find(feed->inputs(), input) != feed->inputs().end();
}

absl::StatusOr<Job> PrepareJob(const RunOptions& options, std::unique_ptr<artifact::ArtifactFile> file,
                               std::optional<KeptState> kept) {
  absl::StatusOr<std::string> name = options.program;
  if (options.program.empty()) name = DefaultProgram(*file);
  if (!name.ok()) return name.status();
  absl::StatusOr<ProgramView> program = ViewProgram(*file, *name);
  if (!program.ok()) return program.status();
  Job job(options, std::move(file), *std::move(program));
  absl::Status status = FillJob(std::move(kept), job);
  if (!status.ok()) return status;
  return job;
}

absl::StatusOr<FilePtr> OpenTensors(const std::string& path) {
  absl::StatusOr<data::SafetensorsFile> file = data::SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  return std::make_shared<const data::SafetensorsFile>(*std::move(file));
}

std::string AgreementText(const Job& job) {
  const RunOptions& options = job.options;
  std::string text = absl::StrCat(
      "artifact: ", artifact::HexHash(job.file->hash()), "\nplan: ", job.file->plan(), "\nprogram: ", job.program.name,
      "\nmode: ", options.only_evaluates ? "evaluation" : ModeName(options.mode),
      "\nsteps: ", options.mode == Mode::kBench ? options.bench_steps : options.steps, "\nfirst step: ", job.first_step,
      "\nhosts without state: ", absl::StrJoin(job.without_state, " "), "\nseed: ", job.seed, "\ndata: ", job.feed_text,
      "\n--save-every: ", options.save.empty() ? "none" : absl::StrCat(options.save_every),
      "\n--peer-copies: ", options.peer_copies_by_cost ? "auto" : absl::StrCat(options.peer_copies),
      "\n--save-zstd: ", options.save_zstd, "\n--mtbf: ", absl::FormatDuration(options.mtbf),
      "\n--fast: ", options.fast ? "yes" : "no", "\n--guard: ", options.guard.every,
      " --guard-loss: ", options.guard.loss_factor, " --guard-grad-norm: ", options.guard.gradient_norm,
      " --on-guard: ", options.guard.skips_steps ? "skip" : "stop", "\n--verify: ", options.verify.steps,
      " --on-verify: ", options.verify.only_notes ? "note" : "stop", "\n--eval-every: ", options.eval_every,
      "\nbatches of --eval-data: ", job.eval ? job.eval->batches : 0,
      "\n--save-weights: ", options.save_weights.empty() ? "no" : "yes",
      "\n--outputs: ", options.outputs.empty() ? "none" : absl::StrJoin(job.output_names, " "), "\ncarried:");
  for (const auto& [output, input] : job.carry) absl::StrAppend(&text, " ", output, ":", input);
  return text;
}

}  // namespace sgd::train
