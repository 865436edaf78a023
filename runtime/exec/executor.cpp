// Prepares each instruction of a verified program and runs them in order; errors are annotated here
// and nowhere else.
#include "runtime/exec/executor.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/verify_operation.h"
#include "runtime/device/algorithm_choices.h"

namespace sgd::exec {
namespace {

using artifact::Instruction;
using artifact::Operation;
using artifact::Size;

// Steady, in nanoseconds: absl::Now follows the wall clock, which may jump.
absl::Time SteadyNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

std::vector<device::CombinedLaunches> CombinedOf(const artifact::LaunchGroup& group) {
  std::vector<device::CombinedLaunches> combined;
  for (uint32_t i = 0; i < artifact::Size(group.combined()); ++i) {
    const artifact::CombinedLaunches& launches = *group.combined()->Get(i);
    combined.push_back({launches.kernel(), {launches.launches()->begin(), launches.launches()->end()}});
  }
  return combined;
}

std::vector<int64_t> CoordinatesOf(const artifact::Launch& launch, const comm::Mesh& mesh, uint32_t rank) {
  std::vector<int64_t> coordinates;
  if (launch.coordinates() == nullptr) return coordinates;
  for (const artifact::Coordinate* coordinate : *launch.coordinates()) {
    coordinates.push_back(static_cast<int64_t>(comm::LinearIndex(mesh, artifact::AxesOf(coordinate->axes()), rank)));
  }
  return coordinates;
}

bool IsNode(Operation operation) {
  return operation != Operation::Loop && operation != Operation::Case && operation != Operation::Collective &&
         operation != Operation::Done;
}

}  // namespace

Executor::Executor(ExecutionContext& context, const artifact::Program& program, const ExecutorOptions& options)
    : context_(context), source_(program), options_(options), program_(program.name()->str()) {
  for (uint32_t i = 0; i < Size(program.inputs()); ++i) {
    const artifact::Input& input = *program.inputs()->Get(i);
    inputs_.push_back({input.name()->str(), data::Shard(data::TypeOf(*input.type()), context.mesh(), context.rank()),
                       context.memory().Address(*input.slice()), input.state(), std::nullopt});
  }
  for (uint32_t i = 0; i < Size(program.outputs()); ++i) {
    const artifact::Output& output = *program.outputs()->Get(i);
    std::optional<uint32_t> carry;
    if (output.carry_input() >= 0) carry = static_cast<uint32_t>(output.carry_input());
    outputs_.push_back({output.name()->str(), data::Shard(data::TypeOf(*output.type()), context.mesh(), context.rank()),
                        context.memory().Address(*output.slice()), false, carry});
  }
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(ExecutionContext& context, std::string_view program,
                                                           const ExecutorOptions& options) {
  absl::StatusOr<const artifact::Program*> source = context.file().FindProgram(program);
  if (!source.ok()) return source.status();
  auto executor = absl::WrapUnique(new Executor(context, **source, options));
  const uint32_t count = static_cast<uint32_t>(Size((*source)->instructions()));
  executor->steps_.reserve(count);
  executor->step_times_.resize(options.profile ? count : 0);
  executor->handles_.resize(count);
  if (options.profile) executor->instruction_times_.assign(count, absl::InfiniteDuration());
  if (absl::Status status = executor->PrepareNodes(); !status.ok()) return status;
  for (uint32_t i = 0; i < count; ++i) {
    if (absl::Status status = executor->PrepareInstruction(i); !status.ok()) return executor->Locate(status, i);
  }
  if (absl::Status status = executor->PrepareForQueues(); !status.ok()) return status;
  return executor;
}

// Before any collective is prepared, where ranks may meet: those that take algorithms wait for the one that chooses
// them.
absl::Status Executor::PrepareNodes() {
  device::AlgorithmChoices* choices = context_.device().algorithm_choices();
  if (choices != nullptr && !choices->decides()) {
    if (absl::Status status = TakeAlgorithms(*choices); !status.ok()) return status;
  }
  nodes_.resize(Size(source_.instructions()));
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Instruction& instruction = *source_.instructions()->Get(i);
    if (!IsNode(instruction.op_type())) continue;
    absl::StatusOr<std::unique_ptr<device::Node>> node = PrepareNode(instruction);
    if (!node.ok()) return Locate(node.status(), i);
    nodes_[i] = *std::move(node);
  }
  if (choices == nullptr || !choices->decides()) return absl::OkStatus();
  context_.SaveAlgorithms();
  return TakeAlgorithms(*choices);
}

// All ranks get what rank 0 has chosen.
absl::Status Executor::TakeAlgorithms(device::AlgorithmChoices& choices) {
  if (context_.control().size() == 1) return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> all =
      context_.control().AllGatherBytes(choices.decides() ? choices.Save() : std::string(), options_.timeout);
  if (!all.ok()) return all.status();
  return choices.decides() ? absl::OkStatus() : choices.Restore(all->front());
}

absl::Status Executor::PrepareInstruction(uint32_t index) {
  const Instruction& instruction = *source_.instructions()->Get(index);
  const bool is_loop = instruction.op_type() == Operation::Loop;
  if (is_loop || instruction.op_type() == Operation::Case) {
    steps_.push_back({is_loop ? Step::Kind::kLoop : Step::Kind::kCase,
                      nullptr,
                      {},
                      index,
                      artifact::Next(source_, index),
                      artifact::BlocksOf(source_, index)});
    return absl::OkStatus();
  }
  if (const artifact::Collective* collective = instruction.op_as_Collective()) {
    return PrepareCollective(*collective, index);
  }
  if (const artifact::Done* done = instruction.op_as_Done()) {
    steps_.push_back({Step::Kind::kDone, nullptr, handles_[done->start()], index, index + 1});
    return absl::OkStatus();
  }
  steps_.push_back({Step::Kind::kNode, std::move(nodes_[index]), {}, index, index + 1});
  return absl::OkStatus();
}

absl::Status Executor::PrepareCollective(const artifact::Collective& collective, uint32_t index) {
  const Instruction& instruction = *source_.instructions()->Get(index);
  const std::string location = absl::StrCat(program_, ": instruction ", index, ": ", LocationOf(instruction));
  absl::StatusOr<comm::CollectiveHandle> handle =
      context_.communicator().Prepare(context_.mesh(), artifact::SpecOf(collective, location));
  if (!handle.ok()) return handle.status();
  handles_[index] = *handle;
  const Step::Kind kind = collective.starts() ? Step::Kind::kStart : Step::Kind::kCollective;
  steps_.push_back({kind, nullptr, *handle, index, index + 1});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<device::Node>> Executor::PrepareNode(const Instruction& instruction) {
  device::Device& device = context_.device();
  const device::MemoryMap& memory = context_.memory();
  switch (instruction.op_type()) {
    case Operation::Launch: {
      const artifact::Launch& launch = *instruction.op_as_Launch();
      const std::vector<int64_t> coordinates = CoordinatesOf(launch, context_.mesh(), context_.rank());
      return device.PrepareLaunch(launch, context_.kernels(), memory, coordinates);
    }
    case Operation::LaunchGroup: {
      std::vector<device::GroupedLaunch> launches;
      for (const artifact::Launch* launch : *instruction.op_as_LaunchGroup()->launches()) {
        launches.push_back({launch, CoordinatesOf(*launch, context_.mesh(), context_.rank())});
      }
      return device.PrepareLaunchGroup(launches, CombinedOf(*instruction.op_as_LaunchGroup()), context_.kernels(),
                                       memory);
    }
    case Operation::Matmul:
      return device.PrepareMatmul(*instruction.op_as_Matmul(), memory);
    case Operation::Convolution:
      return device.PrepareConvolution(*instruction.op_as_Convolution(), memory);
    case Operation::Tiled:
      return device.PrepareTiled(*instruction.op_as_Tiled(), context_.kernels(), memory);
    case Operation::Copy: {
      const artifact::Copy& copy = *instruction.op_as_Copy();
      return device.PrepareCopy(memory.Address(*copy.source()), memory.Address(*copy.target()), copy.target()->size());
    }
    case Operation::Fill: {
      const artifact::Fill& fill = *instruction.op_as_Fill();
      return device.PrepareFill(memory.Address(*fill.target()), fill.target()->size(),
                                {fill.pattern()->data(), fill.pattern()->size()});
    }
    default:
      return absl::InternalError("an operation that the verifier does not know");
  }
}

absl::Status Executor::Run(uint64_t step) {
  absl::Status status = Begin(step);
  return status.ok() ? End() : status;
}

absl::Status Executor::Begin(uint64_t step) {
  step_ = step;
  runs_.clear();
  if (queued_ != nullptr) return BeginOnQueues();
  const absl::Time begin = SteadyNow();
  step_begin_ = begin;
  timing_.communication = absl::ZeroDuration();
  absl::Status status = RunBlock({0, steps_.size()});
  if (status.ok()) status = context_.device().Synchronize();
  timing_.total = SteadyNow() - begin;
  return status;
}

absl::Status Executor::End() {
  if (queued_ != nullptr) {
    if (under_way_.empty()) return absl::FailedPreconditionError("no step is under way");
    const StepUnderWay ending = under_way_.front();
    under_way_.pop_front();
    absl::Status status = WaitUntil([&] { return ending.done->IsReached(); });
    if (!status.ok()) return StepError(status, ending.step);
    if (host_ != nullptr) host_->EndStep();
    timing_.host = ending.host;
    timing_.total = SteadyNow() - std::max(ending.begin, last_end_);
    last_end_ = SteadyNow();
  }
  return options_.profile ? CollectTimes() : absl::OkStatus();
}

absl::Status Executor::CollectTimes() {
  if (timer_ != nullptr) {
    absl::StatusOr<std::vector<InstructionRun>> runs = timer_->Collect();
    if (!runs.ok()) return runs.status();
    runs_ = *std::move(runs);
  }
  std::fill(step_times_.begin(), step_times_.end(), absl::ZeroDuration());
  for (const InstructionRun& run : runs_) step_times_[run.instruction] += run.length;
  for (size_t i = 0; i < step_times_.size(); ++i) {
    instruction_times_[i] = std::min(instruction_times_[i], step_times_[i]);
  }
  return absl::OkStatus();
}

absl::Status Executor::RunBlock(const artifact::Block& block) {
  for (uint64_t i = block.begin; i < block.end; i = steps_[i].next) {
    const Step& step = steps_[i];
    if (step.kind == Step::Kind::kLoop || step.kind == Step::Kind::kCase) {
      // What fails inside says where it stands.
      absl::Status status = step.kind == Step::Kind::kLoop ? RunLoop(step) : RunCase(step);
      if (!status.ok()) return status;
      continue;
    }
    absl::Status status = options_.profile ? ExecuteTimed(step) : ExecuteStep(step);
    if (!status.ok()) {
      return Locate(absl::Status(status.code(), absl::StrCat("step ", step_, ": ", status.message())),
                    step.instruction);
    }
  }
  return absl::OkStatus();
}

// The predicate is the same on all ranks: the compiler gives it to loops only where no rank has another.
absl::Status Executor::RunLoop(const Step& step) {
  const artifact::Loop& loop = *source_.instructions()->Get(step.instruction)->op_as_Loop();
  const std::byte* predicate = loop.predicate() == nullptr ? nullptr : context_.memory().Address(*loop.predicate());
  for (uint64_t trip = 0; predicate != nullptr || trip < loop.trips(); ++trip) {
    if (predicate != nullptr) {
      if (absl::Status status = RunBlock(step.blocks[0]); !status.ok()) return status;
      if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
      if (*predicate == std::byte{0}) break;
    }
    if (absl::Status status = RunBlock(step.blocks[1]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Executor::RunCase(const Step& step) {
  const artifact::Case& branches = *source_.instructions()->Get(step.instruction)->op_as_Case();
  if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
  int32_t index = 0;
  std::memcpy(&index, context_.memory().Address(*branches.index()), sizeof(index));
  const bool has_branch = index >= 0 && static_cast<size_t>(index) < step.blocks.size();
  return RunBlock(has_branch ? step.blocks[static_cast<size_t>(index)] : step.blocks.back());
}

absl::Status Executor::ExecuteStep(const Step& step) {
  return step.kind == Step::Kind::kNode ? step.node->Execute() : ExecuteCollective(step);
}

absl::Status Executor::ExecuteTimed(const Step& step) {
  const absl::Time begin = SteadyNow();
  absl::Status status = ExecuteStep(step);
  // A device with a queue has only enqueued it.
  if (status.ok()) status = context_.device().Synchronize();
  runs_.push_back({step.instruction, 0, begin - step_begin_, SteadyNow() - begin});
  return status;
}

absl::Status Executor::PrepareForQueues() {
  device::Device& device = context_.device();
  if (device.host_transfer() != nullptr) {
    std::vector<DevicePlace> inputs, outputs;
    std::vector<size_t> scalars;
    for (const Tensor& input : inputs_) inputs.push_back({input.bytes, input.shard.local_bytes()});
    for (const Tensor& output : outputs_) {
      if (output.shard.type().global_dims.empty()) scalars.push_back(outputs.size());
      outputs.push_back({output.bytes, output.shard.local_bytes()});
    }
    absl::StatusOr<std::unique_ptr<HostTensors>> host = HostTensors::Create(device, inputs, outputs, scalars);
    if (!host.ok()) return host.status();
    host_ = *std::move(host);
  }
  if (device.queues() == nullptr) return absl::OkStatus();
  for (uint64_t i = 0; i < HostTensors::kStepsUnderWay; ++i) {
    absl::StatusOr<std::unique_ptr<device::Event>> event = device.queues()->MakeEvent();
    if (!event.ok()) return event.status();
    done_events_.push_back(*std::move(event));
  }
  if (options_.profile) timer_ = std::make_unique<QueueTimer>(*device.queues());
  for (const Instruction* instruction : *source_.instructions())
    range_names_.push_back(absl::StrCat(artifact::OperationName(*instruction), " ", LocationOf(*instruction)));
  QueuedStep::Hooks hooks;
  hooks.enqueue = [this](uint32_t index, uint32_t queue) { return EnqueueInstruction(index, queue); };
  hooks.wait = [this] { return WaitForQueues(); };
  hooks.read = [this](const artifact::Slice& slice, std::span<std::byte> target) {
    return context_.device().host_transfer()->Download(context_.memory().Address(slice), target);
  };
  hooks.sent_bytes = [this] { return context_.communicator().sent_bytes(); };
  hooks.count_sent = [this](uint64_t bytes) { context_.communicator().queued()->CountSent(bytes); };
  // Instructions that are timed run one by one.
  const bool records = !options_.profile && !options_.eager;
  absl::StatusOr<std::unique_ptr<QueuedStep>> step =
      QueuedStep::Create(*device.queues(), source_, std::move(hooks), records);
  if (!step.ok()) return step.status();
  queued_ = *std::move(step);
  return absl::OkStatus();
}

absl::Status Executor::StageInputs(const std::vector<size_t>& fed, const std::vector<size_t>& kept) {
  return host_ == nullptr || queued_ == nullptr ? absl::OkStatus() : host_->Stage(fed, kept, !options_.eager);
}

absl::Status Executor::EnqueueInstruction(uint32_t index, uint32_t queue) {
  const Step& step = steps_[index];
  device::Queues& queues = *context_.device().queues();
  queues.BeginRange(range_names_[index].c_str());
  absl::Status status = timer_ == nullptr ? absl::OkStatus() : timer_->Begin(index, queue);
  if (status.ok())
    status = step.kind == Step::Kind::kNode ? step.node->Execute()
                                            : context_.communicator().queued()->Enqueue(step.collective);
  if (status.ok() && timer_ != nullptr) status = timer_->End();
  queues.EndRange();
  if (status.ok()) return status;
  return Locate(absl::Status(status.code(), absl::StrCat("step ", step_, ": ", status.message())), index);
}

// Peers that are late or dead show in the communicator before a queue comes to its end.
absl::Status Executor::WaitUntil(const std::function<absl::StatusOr<bool>()>& is_done) {
  const absl::Time deadline = SteadyNow() + options_.timeout;
  for (uint64_t polls = 0;; ++polls) {
    absl::StatusOr<bool> done = is_done();
    if (!done.ok()) return done.status();
    if (*done) return absl::OkStatus();
    if (absl::Status status = context_.communicator().queued()->Poll(); !status.ok()) return status;
    if (polls % 64 == 63 && SteadyNow() > deadline) return context_.communicator().queued()->Late(options_.timeout);
  }
}

absl::Status Executor::WaitForQueues() {
  return WaitUntil([this] { return context_.device().queues()->IsIdle(); });
}

absl::Status Executor::StepError(const absl::Status& status, uint64_t step) const {
  if (status.ok()) return status;
  return EndJob(absl::Status(status.code(), absl::StrCat("rank ", context_.rank(), ": program '", program_, "' step ",
                                                         step, ": ", status.message())));
}

// Before anything of the device is freed, which would wait for what may never end.
absl::Status Executor::EndJob(const absl::Status& cause) const {
  if (!cause.ok()) context_.communicator().EndJob(cause);
  return cause;
}

absl::Status Executor::BeginOnQueues() {
  // Events of one step are timed at a time.
  if (under_way_.size() == (timer_ == nullptr ? HostTensors::kStepsUnderWay : 1))
    return absl::FailedPreconditionError("a step is to begin, but the one before the last has not ended");
  const absl::Time begin = SteadyNow();
  device::Event& done = *done_events_[begun_++ % HostTensors::kStepsUnderWay];
  if (absl::Status status = host_ == nullptr ? absl::OkStatus() : host_->BeginStep(); !status.ok())
    return StepError(status, step_);
  if (absl::Status status = timer_ == nullptr ? absl::OkStatus() : timer_->BeginStep(); !status.ok())
    return StepError(status, step_);
  if (absl::Status status = queued_->Run(); !status.ok()) return EndJob(status);
  absl::Status status = host_ == nullptr ? absl::OkStatus() : host_->FetchOutputs();
  if (status.ok()) status = done.Record(device::StreamPlan::kCompute);
  if (!status.ok()) return StepError(status, step_);
  under_way_.push_back({step_, &done, begin, SteadyNow() - begin});
  return absl::OkStatus();
}

absl::Status Executor::ExecuteCollective(const Step& step) {
  // Peers read the window, so what was enqueued must have been written.
  if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
  const absl::Time begin = SteadyNow();
  absl::Status status = Communicate(step);
  timing_.communication += SteadyNow() - begin;
  return status;
}

absl::Status Executor::Communicate(const Step& step) {
  comm::Communicator& communicator = context_.communicator();
  switch (step.kind) {
    case Step::Kind::kStart:
      return communicator.Start(step.collective, options_.timeout);
    case Step::Kind::kDone:
      return communicator.Wait(step.collective, options_.timeout);
    default:
      return communicator.Execute(step.collective, options_.timeout);
  }
}

std::span<std::byte> Executor::InputBytes(size_t index) const {
  if (host_ != nullptr) return host_->FillInput(index);
  return {inputs_[index].bytes, inputs_[index].shard.local_bytes()};
}

std::span<const std::byte> Executor::ReadInput(size_t index) const {
  if (host_ != nullptr) return host_->ReadInput(index);
  return {inputs_[index].bytes, inputs_[index].shard.local_bytes()};
}

absl::Status Executor::read_status() const { return host_ != nullptr ? host_->status() : absl::OkStatus(); }

std::span<const std::byte> Executor::OutputBytes(size_t index) const {
  if (host_ != nullptr) return host_->ReadOutput(index);
  return {outputs_[index].bytes, outputs_[index].shard.local_bytes()};
}

absl::Status Executor::UploadInput(size_t index, std::span<const std::byte> global) {
  const Tensor& input = inputs_[index];
  if (global.size() != input.shard.global_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("input ", index, " '", absl::CEscape(input.name), "' of program '",
                                                   program_, "': given ", global.size(), " bytes, it has ",
                                                   input.shard.global_bytes()));
  }
  input.shard.CopyIn(global, InputBytes(index));
  return absl::OkStatus();
}

absl::Status Executor::DownloadOutput(size_t index, std::span<std::byte> global) const {
  const Tensor& output = outputs_[index];
  if (global.size() != output.shard.global_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("output ", index, " '", absl::CEscape(output.name), "' of program '",
                                                   program_, "': a buffer of ", global.size(), " bytes, it has ",
                                                   output.shard.global_bytes()));
  }
  if (output.shard.is_first_replica()) output.shard.CopyOut(OutputBytes(index), global);
  return read_status();
}

std::string Executor::LocationOf(const Instruction& instruction) const {
  if (instruction.loc() >= Size(source_.locations())) return "unknown location";
  return absl::CEscape(source_.locations()->Get(instruction.loc())->str());
}

absl::Status Executor::Locate(const absl::Status& status, uint32_t index) const {
  const Instruction& instruction = *source_.instructions()->Get(index);
  return absl::Status(status.code(), absl::StrCat("rank ", context_.rank(), ": program '", program_, "' instruction ",
                                                  index, " (", artifact::OperationName(instruction), ") at ",
                                                  LocationOf(instruction), ": ", status.message()));
}

}  // namespace sgd::exec
