// Preparation of a rank and filling of its inputs.
#include "tools/sgdrun/session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "runtime/artifact/kept_inputs.h"
#include "runtime/comm/leave.h"
#include "runtime/device/algorithm_choices.h"
#include "runtime/device/queues.h"
#include "tools/sgdrun/initial_inputs.h"
#include "tools/sgdrun/redistribute.h"

namespace sgd::sgdrun {
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

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const Job& job, const launch::RankContext& rank,
                                                         StartTimes& start) {
  auto session = std::unique_ptr<Session>(new Session(job, rank));
  absl::Status status = session->Prepare(start);
  if (status.ok()) return session;
  // Before anything of the device is freed, which would wait for what may never end.
  session->device_.Abort(status);
  return status;
}

exec::ExecutorOptions Session::executor_options() const {
  const Options& options = job_.options;
  return {.timeout = options.deadline,
          .profile = !options.profile.empty() || !options.trace.empty(),
          .eager = options.eager,
          .progress = progress_.get()};
}

absl::Status Session::Prepare(StartTimes& start) {
  absl::StatusOr<RankDevice> device = RankDevice::Open(job_, rank_);
  if (!device.ok()) return device.status();
  device_ = *std::move(device);
  if (absl::Status status = Agree(); !status.ok()) return status;
  start.End("agree");
  if (absl::Status status = device_.Connect(job_, rank_); !status.ok()) return status;
  device::AlgorithmChoices* choices = device_.device().algorithm_choices();
  if (job_.options.tune && choices == nullptr)
    return absl::InvalidArgumentError("--tune: this device has no algorithms to choose among");
  if (choices != nullptr) choices->set_times_candidates(job_.options.tune);
  absl::StatusOr<std::unique_ptr<exec::ExecutionContext>> context =
      exec::ExecutionContext::Create(*job_.file, device_.device(), device_.communicator());
  if (!context.ok()) return context.status();
  context_ = *std::move(context);
  if (const std::string& note = context_->algorithm_note(); !note.empty())
    std::fprintf(stderr, "sgdrun: note: %s\n", note.c_str());
  if (device_.device().queues() == nullptr) {
    absl::StatusOr<std::unique_ptr<exec::ProgressWatch>> progress = exec::ProgressWatch::Start(
        device_.device(),
        {.deadline = std::max(job_.options.deadline, absl::Milliseconds(100)), .give_up = comm::LeaveAtOnce});
    if (!progress.ok()) return progress.status();
    progress_ = *std::move(progress);
  }
  start.End("load kernels");
  absl::StatusOr<std::unique_ptr<exec::Executor>> executor = MakeExecutor(job_.program.name);
  if (!executor.ok()) return executor.status();
  executor_ = *std::move(executor);
  if (job_.eval) {
    executor = MakeExecutor(job_.eval->program.name);
    if (!executor.ok()) return executor.status();
    eval_executor_ = *std::move(executor);
  }
  absl::StatusOr<std::unique_ptr<exec::Carry>> carry =
      exec::Carry::Create(*context_, *executor_, *executor_, job_.carry);
  if (!carry.ok()) return carry.status();
  carry_ = *std::move(carry);
  start.End("prepare");
  absl::Status status = FillFirstInputs();
  start.End("fill inputs");
  return status;
}

absl::StatusOr<std::unique_ptr<exec::Executor>> Session::MakeExecutor(const std::string& program) {
  return exec::Executor::Create(*context_, program, executor_options());
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
  // Outputs that lie as the inputs do are copied; the others are cut anew, and read before the
  // copies may overwrite them.
  exec::CarryPairs alike;
  std::vector<std::pair<size_t, std::vector<std::byte>>> recut;
  for (const auto& [output, input] : plan.outputs_to_inputs) {
    const data::TensorType& from = plan.program.outputs[output].type;
    const data::TensorType& to = job_.program.inputs[input].type;
    if (from == to) {
      alike.emplace_back(output, input);
      continue;
    }
    absl::StatusOr<std::vector<std::byte>> bytes = Recut((*init)->OutputBytes(output), from, to);
    if (!bytes.ok()) return bytes.status();
    recut.emplace_back(input, *std::move(bytes));
  }
  absl::StatusOr<std::unique_ptr<exec::Carry>> carry = exec::Carry::Create(*context_, **init, *executor_, alike);
  if (!carry.ok()) return carry.status();
  if (absl::Status status = (*carry)->Run(); !status.ok()) return status;
  for (const auto& [input, bytes] : recut) std::ranges::copy(bytes, executor_->InputBytes(input).begin());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> Session::Recut(std::span<const std::byte> local, const data::TensorType& from,
                                                      const data::TensorType& to) {
  return Redistribute(local, from, to, context_->mesh(), *rank_.control, job_.options.deadline);
}

absl::Status Session::FillFirstInputs() {
  // init runs first, since it uses the same memory.
  if (job_.init) {
    if (absl::Status status = RunInit(); !status.ok()) return status;
  }
  if (absl::Status status = FillInitialInputs(job_, *executor_, device_.device()); !status.ok()) return status;
  return KeepConstants();
}

absl::Status Session::KeepConstants() {
  absl::StatusOr<const artifact::Program*> program = job_.file->FindProgram(job_.program.name);
  if (!program.ok()) return program.status();
  const size_t count = job_.program.inputs.size();
  constants_.resize(count);
  is_kept_.resize(count);
  std::vector<size_t> fed, restored;
  for (size_t i = 0; i < count; ++i) {
    if (job_.IsFed(i)) fed.push_back(i);
    if (!job_.IsConstant(i)) continue;
    is_kept_[i] = artifact::KeepsInput(job_.file->root(), **program, static_cast<uint32_t>(i));
    if (!is_kept_[i]) restored.push_back(i);
  }
  if (executor_->has_queues()) return executor_->StageInputs(fed, restored);
  for (size_t i : restored) {
    const std::span<const std::byte> bytes = executor_->ReadInput(i);
    constants_[i].assign(bytes.begin(), bytes.end());
  }
  return absl::OkStatus();
}

absl::Status Session::Begin(uint64_t step, bool carries) {
  has_carried_ = carries && has_queues();
  return executor_->Begin(step, has_carried_ ? carry_.get() : nullptr);
}

absl::Status Session::Run(uint64_t step, bool carries) {
  absl::Status status = Begin(step, carries);
  return status.ok() ? End() : status;
}

bool Session::IsBusy() const {
  device::Queues* const queues = context_->device().queues();
  if (queues == nullptr) return false;
  for (int milliseconds = 0; milliseconds < 1000; ++milliseconds) {
    const absl::StatusOr<bool> is_idle = queues->IsIdle();
    if (!is_idle.ok() || *is_idle) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

void Session::FillInputs(uint64_t step) {
  if (!is_first_fill_) {
    for (size_t i = 0; i < constants_.size(); ++i) {
      if (!constants_[i].empty())
        std::memcpy(executor_->InputBytes(i).data(), constants_[i].data(), constants_[i].size());
    }
  }
  is_first_fill_ = false;
  if (job_.feed == nullptr) return;
  for (size_t k = 0; k < job_.feed->inputs().size(); ++k) {
    const size_t input = job_.feed->inputs()[k];
    job_.feed->Fill(step, k, executor_->inputs()[input].shard, executor_->InputBytes(input));
  }
}

absl::Status Session::WriteOutputs() {
  std::vector<checkpoint::LocalTensor> tensors;
  for (size_t i = 0; i < executor_->outputs().size(); ++i) {
    tensors.push_back({job_.output_names[i], executor_->outputs()[i].shard, executor_->OutputBytes(i)});
  }
  if (absl::Status status = executor_->read_status(); !status.ok()) return status;
  return checkpoint::WriteShardedFile(job_.options.outputs, tensors, {}, *rank_.control, job_.options.deadline);
}

std::span<const std::byte> Session::StateBytes(size_t input) const {
  // A step may have used a constant input's memory for other things.
  if (!constants_[input].empty()) return constants_[input];
  return executor_->ReadInput(input);
}

std::vector<checkpoint::LocalTensor> Session::State() const {
  std::vector<checkpoint::LocalTensor> tensors;
  for (size_t i = 0; i < executor_->inputs().size(); ++i) {
    if (job_.IsFed(i)) continue;
    tensors.push_back({job_.program.inputs[i].name, executor_->inputs()[i].shard, StateBytes(i)});
  }
  return tensors;
}

}  // namespace sgd::sgdrun
