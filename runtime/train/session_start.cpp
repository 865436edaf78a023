// Preparation of a rank, from the device to the inputs of the first step.
#include "runtime/train/session.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "runtime/device/algorithm_choices.h"
#include "runtime/train/initial_inputs.h"
#include "runtime/train/peer_state.h"

namespace sgd::train {
namespace {

// The first line of `theirs` that differs from `mine`, for the message.
std::string FirstDifference(const std::string& mine, const std::string& theirs) {
  const std::vector<std::string> my_lines = absl::StrSplit(mine, '\n');
  const std::vector<std::string> their_lines = absl::StrSplit(theirs, '\n');
  for (size_t i = 0; i < std::min(my_lines.size(), their_lines.size()); ++i) {
    if (my_lines[i] != their_lines[i]) return absl::StrCat("'", my_lines[i], "' against '", their_lines[i], "'");
  }
  return "one says more than the other";
}

// A run that only prepares reads its first batch too.
uint64_t StepsToRead(const RunOptions& options) { return options.only_prepares ? 1 : options.steps; }

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const Job& job, const launch::RankContext& rank,
                                                         const SessionHooks& hooks, trace::StartTimes& start) {
  auto session = std::unique_ptr<Session>(new Session(job, rank));
  absl::Status status = session->Prepare(hooks, start);
  if (status.ok()) return session;
  // Before anything of the device is freed, which would wait for what may never end.
  session->device_.Abort(status);
  return status;
}

absl::Status Session::Prepare(const SessionHooks& hooks, trace::StartTimes& start) {
  hooks_ = hooks;
  absl::StatusOr<RankDevice> device = RankDevice::Open(job_, rank_, hooks.open_cpu);
  if (!device.ok()) return device.status();
  device_ = *std::move(device);
  flight_ = hooks.flight;
  if (absl::Status status = Agree(); !status.ok()) return status;
  start.End("agree");
  if (absl::Status status = device_.Connect(job_, rank_); !status.ok()) return status;
  if (absl::Status status = OpenContext(hooks); !status.ok()) return status;
  loop_limits_ = {.step_limit = job_.options.step_limit, .note_after = job_.options.deadline};
  if (is_first_rank()) loop_limits_.note = hooks.note;  // all ranks are in the same loops
  start.End("load kernels");
  absl::StatusOr<std::unique_ptr<exec::Executor>> executor = MakeExecutor(job_.program.name);
  if (!executor.ok()) return executor.status();
  executor_ = *std::move(executor);
  if (job_.eval) {
    executor = MakeExecutor(job_.eval->program.name);
    if (!executor.ok()) return executor.status();
    eval_executor_ = *std::move(executor);
  }
  absl::StatusOr<std::unique_ptr<CarriedState>> state = CarriedState::Create(job_, *context_, *executor_);
  if (!state.ok()) return state.status();
  state_ = *std::move(state);
  start.End("prepare");
  if (job_.feed != nullptr) {
    // Now, so that batches are there when the first step begins.
    absl::StatusOr<std::unique_ptr<FedInputs>> fed =
        FedInputs::Start(job_.feed, *executor_, Reading(job_.first_step, job_.first_step + StepsToRead(job_.options)));
    if (!fed.ok()) return fed.status();
    fed_ = *std::move(fed);
  }
  absl::Status status = FillFirstInputs();
  start.End("fill inputs");
  return status;
}

absl::Status Session::OpenContext(const SessionHooks& hooks) {
  device::AlgorithmChoices* choices = device_.device().algorithm_choices();
  if (job_.options.tune && choices == nullptr)
    return absl::InvalidArgumentError("--tune: this device has no algorithms to choose among");
  if (choices != nullptr) choices->set_times_candidates(job_.options.tune);
  absl::StatusOr<std::unique_ptr<exec::ExecutionContext>> context =
      exec::ExecutionContext::Create(*job_.file, device_.device(), device_.communicator());
  if (!context.ok()) return context.status();
  context_ = *std::move(context);
  if (const std::string& note = context_->algorithm_note(); !note.empty()) hooks.note(note);
  if (device_.device().streams() != nullptr) return absl::OkStatus();
  if (job_.options.mode == Mode::kTrain) core_delay_ = std::make_unique<watch::CoreDelay>();
  return WatchProgress();
}

absl::Status Session::WatchProgress() {
  const auto give_up = [this](const absl::Status& error) {
    launch::FailurePolicy* const policy = rank_.policy;
    const std::string place = policy == nullptr ? "" : policy->Where();
    // The error names the instruction already.
    const std::string instruction = absl::StrCat(progress_->position().instruction, "; ");
    control().Abort(absl::Status(
        error.code(), absl::StrCat(error.message(), place.empty() ? "" : "; ", absl::StripPrefix(place, instruction))));
    if (policy != nullptr) policy->GiveUp(control().Poll());
  };
  absl::StatusOr<std::unique_ptr<exec::ProgressWatch>> progress = exec::ProgressWatch::Start(
      device_.device(), {.deadline = std::max(job_.options.deadline, absl::Milliseconds(100)), .give_up = give_up});
  if (!progress.ok()) return progress.status();
  progress_ = *std::move(progress);
  if (rank_.policy == nullptr) return absl::OkStatus();
  rank_.policy->SetPosition([this] {
    const exec::ProgressWatch::Position position = progress_->position();
    return launch::RankPosition{position.instruction, position.location};
  });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<exec::Executor>> Session::MakeExecutor(const std::string& program) {
  return exec::Executor::Create(*context_, program,
                                {.timeout = job_.options.deadline,
                                 .wait_limit = &wait_limit_,
                                 .profile = job_.options.times_instructions,
                                 .eager = job_.options.eager,
                                 .progress = progress_.get(),
                                 .flight = flight_,
                                 .delay = core_delay_.get(),
                                 .loops = loop_limits_});
}

absl::Status Session::Agree() {
  const std::string mine = absl::StrCat(AgreementText(job_), "\nCPU and libraries: ", device_.device().fingerprint());
  absl::StatusOr<std::vector<std::string>> all = rank_.control->AllGatherBytes(mine, job_.options.deadline);
  if (!all.ok()) return all.status();
  for (size_t other = 0; other < all->size(); ++other) {
    if ((*all)[other] == (*all)[0]) continue;
    return absl::FailedPreconditionError(absl::StrCat("ranks must run the same thing, but rank 0 and rank ", other,
                                                      " differ: ", FirstDifference((*all)[0], (*all)[other])));
  }
  return absl::OkStatus();
}

absl::Status Session::RunInit() {
  const InitPlan& plan = *job_.init;
  absl::StatusOr<std::unique_ptr<exec::Executor>> init = MakeExecutor(plan.program.name);
  if (!init.ok()) return init.status();
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (absl::Status status = (*init)->UploadInput(i, plan.inputs[i]); !status.ok()) return status;
  }
  if (absl::Status status = (*init)->Run(0); !status.ok()) return status;
  // Outputs with the inputs' sharding are copied; the others are resharded, and read before the
  // copies may overwrite them.
  exec::CarryPairs alike;
  std::vector<std::pair<size_t, std::vector<std::byte>>> recut;
  for (const auto& [output, input] : plan.outputs_to_inputs) {
    const data::TensorType& from = plan.program.outputs[output].type;
    const data::TensorType& to = job_.program.inputs[input].type;
    const std::vector<artifact::Holder>& holders = plan.program.whole.outputs[output].holders;
    if (from == to && artifact::SameStages(holders, job_.program.whole.inputs[input].holders)) {
      alike.emplace_back(output, input);
      continue;
    }
    absl::StatusOr<std::vector<std::byte>> bytes = Recut((*init)->OutputBytes(output), from, holders.front().stage, to);
    if (!bytes.ok()) return bytes.status();
    if (executor_->inputs()[input].is_held) recut.emplace_back(input, *std::move(bytes));
  }
  absl::StatusOr<std::unique_ptr<exec::Carry>> carry = exec::Carry::Create(*context_, **init, *executor_, alike);
  if (!carry.ok()) return carry.status();
  if (absl::Status status = (*carry)->Run(); !status.ok()) return status;
  for (const auto& [input, bytes] : recut) std::ranges::copy(bytes, executor_->InputBytes(input).begin());
  return absl::OkStatus();
}

absl::Status Session::FillFirstInputs() {
  // init runs first, since it uses the same memory.
  if (job_.init) {
    if (absl::Status status = RunInit(); !status.ok()) return status;
  }
  if (absl::Status status = FillInitialInputs(job_, *executor_, device_.device()); !status.ok()) return status;
  if (!job_.without_state.empty()) {
    if (absl::Status status = FetchState(job_, rank_.rank, *executor_, communicator()); !status.ok()) return status;
  }
  return state_->KeepConstants();
}

}  // namespace sgd::train
