// Each call is one run of the resident ranks; in between, the calling thread reads and writes their memory.
#include "runtime/embed/executable.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/kept_inputs.h"
#include "runtime/data/conversion.h"
#include "runtime/data/safetensors.h"
#include "runtime/embed/rank_program.h"
#include "runtime/exec/carry.h"
#include "runtime/train/rank_device.h"

namespace sgd::embed {
namespace {

bool Overlap(const artifact::Slice& a, const artifact::Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

// Whether any stage that holds both has them in the same memory.
bool ShareMemory(const artifact::Whole<artifact::Input>& input, const artifact::Whole<artifact::Output>& output) {
  for (size_t i = 0; i < input.holders.size(); ++i) {
    for (size_t j = 0; j < output.holders.size(); ++j) {
      if (input.holders[i].stage != output.holders[j].stage) continue;
      if (Overlap(*input.tensors[i]->slice(), *output.tensors[j]->slice())) return true;
    }
  }
  return false;
}

bool IsKept(const artifact::ArtifactFile& file, const std::string& program,
            const artifact::Whole<artifact::Input>& input) {
  return std::ranges::all_of(input.holders, [&](const artifact::Holder& holder) {
    const absl::StatusOr<const artifact::Program*> of_stage = file.FindProgram(program, holder.stage);
    return of_stage.ok() && artifact::KeepsInput(file.root(), **of_stage, holder.index);
  });
}

absl::Status CheckSize(const std::string& tensor, size_t given, uint64_t needed) {
  if (given == needed) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(tensor, ": given ", given, " bytes, it has ", needed));
}

}  // namespace

// Of a rank.
struct Executable::State {
  RankProgram program;
  std::unique_ptr<exec::Carry> carry;

  absl::Status Prepare(const std::shared_ptr<const artifact::ArtifactFile>& file, const Rank& rank,
                       const std::string& name, absl::Duration timeout, const exec::HostCallHandler& calls) {
    if (absl::Status status = program.Prepare(file, rank, name, timeout, calls); !status.ok()) return status;
    auto copies = exec::Carry::Create(*program.context, *program.executor, *program.executor,
                                      exec::RecordedCarry(*program.executor));
    if (copies.ok()) carry = *std::move(copies);
    return copies.status();
  }
};

absl::StatusOr<std::unique_ptr<Executable>> Executable::Load(std::shared_ptr<const artifact::ArtifactFile> file,
                                                             const ExecutableOptions& options) {
  ExecutableOptions chosen = options;
  chosen.ranks.target = file->root().target()->str();
  chosen.ranks.has_messages = artifact::Size(file->root().channels()) > 0;
  chosen.ranks.timeout = options.timeout;
  if (chosen.program.empty()) {
    absl::StatusOr<std::string> name = train::DefaultProgram(*file);
    if (!name.ok()) return name.status();
    chosen.program = *std::move(name);
  }
  absl::StatusOr<train::ProgramView> program = train::ViewProgram(*file, chosen.program);
  if (!program.ok()) return program.status();
  std::unique_ptr<Executable> self(new Executable(std::move(file), *std::move(program), chosen));
  if (self->pool_ == nullptr) {
    auto pool = RankPool::Start(self->ranks(), chosen.ranks);
    if (!pool.ok()) return pool.status();
    self->pool_ = *std::move(pool);
  } else if (self->pool_->size() != self->ranks()) {
    return absl::FailedPreconditionError(absl::StrCat(self->file_->path(), ": compiled for ", self->ranks(),
                                                      " ranks, and there are ", self->pool_->size()));
  } else if (self->pool_->target() != chosen.ranks.target) {
    return absl::FailedPreconditionError(absl::StrCat(self->file_->path(), ": compiled for ", chosen.ranks.target,
                                                      ", and the ranks are of ", self->pool_->target()));
  }
  self->FindOverlaps();
  if (absl::Status status = self->Start(); !status.ok()) return status;
  return self;
}

Executable::Executable(std::shared_ptr<const artifact::ArtifactFile> file, train::ProgramView program,
                       const ExecutableOptions& options)
    : file_(std::move(file)), program_(std::move(program)), options_(options), pool_(options.pool) {}

Executable::~Executable() { Release(); }

void Executable::Release() {
  std::vector<std::shared_ptr<void>> states;
  for (std::shared_ptr<State>& state : states_) states.push_back(std::move(state));
  states_.clear();
  if (pool_ != nullptr) pool_->Destroy(std::move(states));
  job_ = nullptr;
}

void Executable::FindOverlaps() {
  for (const artifact::Whole<artifact::Input>& input : program_.whole.inputs) {
    std::vector<size_t>& over = outputs_over_.emplace_back();
    for (size_t output = 0; output < program_.outputs.size(); ++output)
      if (ShareMemory(input, program_.whole.outputs[output])) over.push_back(output);
    keeps_input_.push_back(IsKept(*file_, program_.name, input));
  }
}

absl::Status Executable::Start() {
  has_input_.assign(program_.inputs.size(), false);
  has_output_.assign(program_.outputs.size(), false);
  Release();
  auto job = pool_->Open(file_->root().window_bytes());
  if (!job.ok()) return job.status();
  job_ = *std::move(job);
  for (uint32_t rank = 0; rank < ranks(); ++rank) states_.push_back(std::make_shared<State>());
  return job_->Run([states = Shared(), file = file_, name = program_.name, timeout = options_.timeout,
                    calls = options_.host_calls](const Rank& rank) {
    const std::shared_ptr<State> state = states[rank.index].lock();
    if (state == nullptr) return absl::CancelledError("the job has ended");
    return state->Prepare(file, rank, name, timeout, calls);
  });
}

absl::Status Executable::Restart() { return Start(); }

std::vector<std::weak_ptr<Executable::State>> Executable::Shared() const { return {states_.begin(), states_.end()}; }

absl::Status Executable::RunOnRanks(const std::function<absl::Status(State& state)>& body) const {
  return job_->Run([states = Shared(), body](const Rank& rank) {
    const std::shared_ptr<State> state = states[rank.index].lock();
    return state == nullptr ? absl::CancelledError("the job has ended") : body(*state);
  });
}

absl::Status Executable::Fetch(const std::function<void(exec::Executor& executor)>& read) const {
  if (pool_->is_host_memory()) return absl::OkStatus();
  return RunOnRanks([read](State& state) {
    read(*state.program.executor);
    return state.program.executor->read_status();
  });
}

const exec::Tensor& Executable::input(uint32_t rank, size_t position) const {
  return states_[rank]->program.executor->inputs()[position];
}

const exec::Tensor& Executable::output(uint32_t rank, size_t position) const {
  return states_[rank]->program.executor->outputs()[position];
}

std::string Executable::InputName(size_t position) const { return train::InputText(program_, position); }
std::string Executable::OutputName(size_t position) const { return train::OutputText(program_, position); }

void Executable::EndOutputsOver(size_t input) {
  for (const size_t output : outputs_over_[input]) has_output_[output] = false;
}

absl::Status Executable::SetInput(size_t position, std::span<const std::byte> global) {
  if (absl::Status status = CheckSize(InputName(position), global.size(), input(0, position).shard.global_bytes());
      !status.ok())
    return status;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    const std::span<std::byte> shard = InputShard(rank, position);
    if (!shard.empty()) input(rank, position).shard.CopyIn(global, shard);
  }
  return absl::OkStatus();
}

std::span<std::byte> Executable::InputShard(uint32_t rank, size_t position) {
  EndOutputsOver(position);
  has_input_[position] = true;
  return input(rank, position).is_held ? states_[rank]->program.executor->InputBytes(position) : std::span<std::byte>();
}

absl::StatusOr<size_t> Executable::InputOf(const data::SafetensorsFile& file, const data::TensorEntry& entry) const {
  std::optional<size_t> input = program_.input_names.Find(entry.name);
  for (size_t i = 0; i < program_.inputs.size() && !input; ++i)
    if (std::ranges::find(program_.inputs[i].aliases, entry.name) != program_.inputs[i].aliases.end()) input = i;
  if (!input) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": tensor ", data::QuotedName(entry.name), ": program ",
                                                   data::QuotedName(program_.name), " has no such input",
                                                   program_.input_names.Advice(entry.name)));
  }
  if (absl::Status status = data::CheckTensor(file, entry, program_.inputs[*input]); !status.ok()) return status;
  return *input;
}

absl::Status Executable::SetInputsFrom(const std::string& path) {
  absl::StatusOr<data::SafetensorsFile> file = data::SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  std::vector<size_t> inputs;
  for (const data::TensorEntry& entry : file->tensors()) {
    absl::StatusOr<size_t> input = InputOf(*file, entry);
    if (!input.ok()) return input.status();
    inputs.push_back(*input);
  }
  std::vector<std::byte> converted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const data::TensorEntry& entry = file->tensors()[i];
    const data::Conversion conversion = data::ConversionTo(program_.inputs[inputs[i]], entry.element);
    std::span<const std::byte> bytes = file->Bytes(entry);
    if (!conversion.is_copy() && data::AreOtherIntegers(entry.element, conversion.to)) {
      const uint64_t count = entry.size / artifact::ElementSize(entry.element);
      converted.resize(count * artifact::ElementSize(conversion.to));
      // CheckTensor has found that all values fit.
      static_cast<void>(data::Convert(conversion, bytes.data(), count, converted.data()));
      bytes = converted;
    }
    if (absl::Status status = SetInput(inputs[i], bytes); !status.ok()) return status;
    file->Release(entry);
  }
  return absl::OkStatus();
}

absl::Status Executable::Run() {
  for (size_t i = 0; i < has_input_.size(); ++i) {
    if (has_input_[i]) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        InputName(i), " has no value: ",
        steps_ == 0 ? "set it" : "the last step has used its memory, so set it again, or carry its next value"));
  }
  // Before the step: a step that fails leaves nothing.
  has_output_.assign(has_output_.size(), false);
  has_input_ = keeps_input_;
  const uint64_t step = steps_;
  if (absl::Status status = RunOnRanks([step](State& state) { return state.program.executor->Run(step); });
      !status.ok())
    return status;
  ++steps_;
  has_output_.assign(has_output_.size(), true);
  return absl::OkStatus();
}

absl::Status Executable::Carry() {
  for (const auto& [output, input] : program_.carry) {
    if (has_output_[output]) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(OutputName(output), " has no value to carry: run a step, and carry before inputs are set"));
  }
  const bool is_empty = std::ranges::all_of(states_, [](const auto& state) { return state->carry->is_empty(); });
  if (!is_empty) {
    if (absl::Status status = RunOnRanks([](State& state) { return state.carry->Run(); }); !status.ok()) return status;
  }
  for (const auto& [output, input] : program_.carry) {
    for (const std::shared_ptr<State>& state : states_) state->program.executor->DiscardInput(input);
    EndOutputsOver(input);
    has_input_[input] = true;
  }
  return absl::OkStatus();
}

absl::Status Executable::ReadInput(size_t position, std::span<std::byte> global) const {
  if (!has_input_[position]) return absl::FailedPreconditionError(absl::StrCat(InputName(position), " has no value"));
  if (absl::Status status = CheckSize(InputName(position), global.size(), input(0, position).shard.global_bytes());
      !status.ok())
    return status;
  if (absl::Status status = Fetch([position](exec::Executor& executor) { executor.ReadInput(position); }); !status.ok())
    return status;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    const exec::Tensor& tensor = input(rank, position);
    if (tensor.is_first()) tensor.shard.CopyOut(states_[rank]->program.executor->ReadInput(position), global);
  }
  return absl::OkStatus();
}

absl::Status Executable::ReadOutput(size_t position, std::span<std::byte> global) const {
  if (!has_output_[position]) {
    return absl::FailedPreconditionError(absl::StrCat(
        OutputName(position), " has no value: run a step, and read outputs before inputs are set or carried"));
  }
  if (absl::Status status = CheckSize(OutputName(position), global.size(), output(0, position).shard.global_bytes());
      !status.ok())
    return status;
  if (absl::Status status = Fetch([position](exec::Executor& executor) { executor.OutputBytes(position); });
      !status.ok())
    return status;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    if (absl::Status status = states_[rank]->program.executor->DownloadOutput(position, global); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

std::span<const std::byte> Executable::OutputShard(uint32_t rank, size_t position) const {
  const absl::Status status = Fetch([position](exec::Executor& executor) { executor.OutputBytes(position); });
  if (!status.ok() || !output(rank, position).is_held) return {};
  return states_[rank]->program.executor->OutputBytes(position);
}

}  // namespace sgd::embed
