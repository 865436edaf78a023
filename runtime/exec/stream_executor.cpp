// Steps are enqueued one ahead; the copies around their program alternate between two slots of the host's memory.
#include "runtime/exec/stream_executor.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/exec/carry.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::exec {

absl::StatusOr<std::unique_ptr<Executor>> StreamExecutor::Create(ExecutionContext& context,
                                                                 std::unique_ptr<PreparedProgram> program,
                                                                 const ExecutorOptions& options) {
  auto executor = absl::WrapUnique(new StreamExecutor(context, std::move(program), options));
  if (absl::Status status = executor->PrepareHost(); !status.ok()) return status;
  if (absl::Status status = executor->PrepareStreams(); !status.ok()) return status;
  return executor;
}

absl::Status StreamExecutor::PrepareHost() {
  std::vector<DevicePlace> inputs, outputs;
  std::vector<size_t> scalars;
  // Tensors of other stages are empty here.
  const auto place = [](const Tensor& tensor) {
    return DevicePlace{tensor.bytes, tensor.is_held ? tensor.shard.local_bytes() : 0};
  };
  for (const Tensor& input : inputs_) inputs.push_back(place(input));
  for (const Tensor& output : outputs_) {
    if (output.shard.type().global_dims.empty() && output.is_held) scalars.push_back(outputs.size());
    outputs.push_back(place(output));
  }
  absl::StatusOr<std::unique_ptr<HostTensors>> host = HostTensors::Create(context_.device(), inputs, outputs, scalars);
  if (!host.ok()) return host.status();
  host_ = *std::move(host);
  return absl::OkStatus();
}

absl::Status StreamExecutor::PrepareStreams() {
  device::Streams& streams = *context_.device().streams();
  for (uint64_t i = 0; i < HostTensors::kStepsUnderWay; ++i) {
    absl::StatusOr<std::unique_ptr<device::Event>> event = streams.MakeEvent();
    if (!event.ok()) return event.status();
    done_events_.push_back(*std::move(event));
  }
  absl::StatusOr<std::unique_ptr<device::Event>> waited = streams.MakeEvent();
  if (!waited.ok()) return waited.status();
  waited_ = *std::move(waited);
  absl::StatusOr<device::StreamPlan> plan = device::PlanStreams(context_.file().root(), program_->source());
  if (!plan.ok()) return plan.status();
  if (absl::Status status = PrepareTakes(*plan); !status.ok()) return status;
  if (options_.profile) timer_ = std::make_unique<StreamTimer>(streams);
  for (uint64_t i = 0; i < program_->size(); ++i) {
    const artifact::Instruction& instruction = program_->source(i);
    range_names_.push_back(absl::StrCat(artifact::OperationName(instruction), " ", program_->LocationOf(instruction)));
  }
  StreamStep::Hooks hooks;
  hooks.enqueue = [this](const device::StreamAction& action) { return EnqueueInstruction(action); };
  hooks.wait = [this] { return WaitForStream(device::StreamPlan::kCompute); };
  hooks.read = [this](const artifact::Slice& slice, std::span<std::byte> target) {
    return context_.device().host_transfer()->Read(program_->memory().Address(slice), target);
  };
  hooks.begin_loop = [this](uint32_t instruction) { loops_.BeginLoop(instruction); };
  hooks.begin_trip = [this](uint64_t trip, bool is_known) { return loops_.BeginTrip(trip, is_known); };
  hooks.end_loop = [this] { loops_.EndLoop(); };
  hooks.sent_bytes = [this] { return context_.communicator().sent_bytes(); };
  hooks.count_sent = [this](uint64_t bytes) { context_.communicator().stream_collectives()->CountSent(bytes); };
  // Instructions that are timed run one by one.
  const bool records = !options_.profile && !options_.eager;
  absl::StatusOr<std::unique_ptr<StreamStep>> step =
      StreamStep::Create(streams, program_->source(), *std::move(plan), std::move(hooks), records);
  if (!step.ok()) return step.status();
  step_ = *std::move(step);
  return absl::OkStatus();
}

absl::Status StreamExecutor::PrepareTakes(const device::StreamPlan& plan) {
  for (const device::StreamAction& action : plan.blocks[0]) {
    if (action.kind != device::StreamAction::Kind::kPost) continue;
    std::unique_ptr<device::Thunk>& take = takes_[{action.instruction, action.place}];
    if (take != nullptr) continue;
    const artifact::Slice& place = plan.places[action.place];
    device::PreparedThunk copy = context_.device().PrepareCopy(program_->memory().Address(place),
                                                               (*program_)[action.instruction].message, place.size());
    if (!copy.ok()) return program_->Locate(copy.status(), action.instruction);
    take = *std::move(copy);
  }
  places_ = plan.places;
  links_begin_ = plan.first_link();
  return absl::OkStatus();
}

absl::Status StreamExecutor::StageInputs(const std::vector<size_t>& fed, const std::vector<size_t>& kept) {
  return host_->Stage(fed, kept);
}

absl::Status StreamExecutor::Begin(uint64_t step, Carry* carry) {
  runs_.clear();
  // Events of one step are timed at a time.
  if (under_way_.size() == (timer_ == nullptr ? HostTensors::kStepsUnderWay : 1))
    return absl::FailedPreconditionError("a step is to begin, but the one before the last has not ended");
  const absl::Time begin = SteadyNow();
  loops_.BeginStep(step);
  RecordStep(step);
  device::Event& done = *done_events_[host_->next_slot()];
  if (absl::Status status = EnqueueStep(done, carry); !status.ok()) return StepError(status, step);
  under_way_.push_back({step, &done, begin, SteadyNow() - begin});
  return absl::OkStatus();
}

absl::Status StreamExecutor::EnqueueStep(device::Event& done, Carry* carry) {
  const uint32_t slot = host_->next_slot();
  absl::Status status = host_->BeginStep();
  if (status.ok() && timer_ != nullptr) status = timer_->BeginStep();
  if (status.ok()) status = step_->Run(FrameOf(slot, carry));
  return status.ok() ? done.Record(device::StreamPlan::kCompute) : status;
}

StreamStep::Frame StreamExecutor::FrameOf(uint32_t slot, Carry* carry) {
  const bool carries = carry != nullptr && !carry->is_empty();
  StreamStep::Frame frame{.variant = 2 * slot + (carries ? 1 : 0), .before = nullptr, .after = nullptr};
  if (host_->takes_inputs() || copies_in()) {
    frame.before = [this, slot] {
      absl::Status status = host_->takes_inputs() ? host_->TakeInputs(slot) : absl::OkStatus();
      return status.ok() ? CopyIn() : status;
    };
  }
  if (!host_->fetches_outputs() && !carries && !copies_out()) return frame;
  frame.after = [this, slot, carry = carries ? carry : nullptr] {
    absl::Status status = CopyOut();
    if (status.ok()) status = host_->FetchOutputs(slot);
    return status.ok() && carry != nullptr ? carry->Run() : status;
  };
  return frame;
}

absl::Status StreamExecutor::RunObserved(uint64_t, InstructionObserver&) {
  return absl::UnimplementedError("instructions of a device with streams cannot be looked at one by one");
}

absl::Status StreamExecutor::End() {
  if (under_way_.empty()) return absl::FailedPreconditionError("no step is in flight");
  const StepUnderWay ending = under_way_.front();
  under_way_.pop_front();
  absl::Status status = WaitUntil([&ending] { return ending.done->IsReached(); });
  if (!status.ok()) return StepError(status, ending.step);
  host_->EndStep();
  RecordStepEnd(ending.step);
  timing_.host = ending.host;
  timing_.total = SteadyNow() - std::max(ending.begin, last_end_);
  last_end_ = SteadyNow();
  if (timer_ == nullptr) return absl::OkStatus();
  absl::StatusOr<std::vector<InstructionRun>> runs = timer_->Collect();
  if (!runs.ok()) return runs.status();
  runs_ = *std::move(runs);
  KeepTimes();
  return absl::OkStatus();
}

absl::Status StreamExecutor::Enqueue(const device::StreamAction& action) {
  PreparedInstruction& instruction = (*program_)[action.instruction];
  comm::StreamCollectives& collectives = *context_.communicator().stream_collectives();
  if (action.kind == device::StreamAction::Kind::kPost)
    return collectives.EnqueueReceive(instruction.channel, program_->memory().Address(places_[action.place]));
  switch (instruction.kind) {
    case PreparedInstruction::Kind::kThunk:
      return instruction.thunk->Execute();
    case PreparedInstruction::Kind::kSend:
      return collectives.EnqueueSend(instruction.channel, instruction.message);
    case PreparedInstruction::Kind::kReceive:
      return takes_.at({action.instruction, action.place})->Execute();
    default:
      return collectives.Enqueue(instruction.collective);
  }
}

absl::Status StreamExecutor::EnqueueInstruction(const device::StreamAction& action) {
  device::Streams& streams = *context_.device().streams();
  streams.BeginRange(range_names_[action.instruction].c_str());
  absl::Status status = timer_ == nullptr ? absl::OkStatus() : timer_->Begin(action.instruction, action.stream);
  if (status.ok()) status = Enqueue(action);
  if (status.ok() && timer_ != nullptr) status = timer_->End();
  streams.EndRange();
  // Messages wait for peers, who may wait for what comes next here.
  if (status.ok() && options_.eager && action.stream < links_begin_) status = WaitForStream(action.stream);
  // An error of earlier work is not of this instruction.
  const bool is_located = options_.eager || !absl::IsDataLoss(status);
  if (status.ok() || !is_located) return status;
  return absl::Status(status.code(), absl::StrCat(program_->Describe(action.instruction), ": ", status.message()));
}

// Peers that are late or dead show in the communicator before a stream comes to its end.
absl::Status StreamExecutor::WaitUntil(const std::function<absl::StatusOr<bool>()>& is_done) {
  const absl::Time deadline = SteadyNow() + options_.timeout;
  for (uint64_t polls = 0;; ++polls) {
    absl::StatusOr<bool> done = is_done();
    if (!done.ok()) return done.status();
    if (*done) return absl::OkStatus();
    if (absl::Status status = context_.communicator().stream_collectives()->Poll(); !status.ok()) return status;
    if (polls % 64 == 63 && SteadyNow() > deadline)
      return context_.communicator().stream_collectives()->Late(options_.timeout);
  }
}

absl::Status StreamExecutor::WaitForStream(uint32_t stream) {
  absl::Status status = waited_->Record(stream);
  return status.ok() ? WaitUntil([this] { return waited_->IsReached(); }) : status;
}

// The job ends before anything of the device is freed, which would wait for what may never end.
absl::Status StreamExecutor::StepError(const absl::Status& status, uint64_t step) const {
  const bool is_of_any = absl::IsDataLoss(status) && !options_.eager;
  const absl::Status error(
      status.code(), absl::StrCat("rank ", context_.rank(), ": program '", program_->name(), "' step ", step, ": ",
                                  status.message(), is_of_any ? "; with --eager the error names its instruction" : ""));
  context_.communicator().EndJob(error);
  return error;
}

}  // namespace sgd::exec
