// Inputs are copied into the plan's memory. Outputs up to kCopiedBytes are copied out at once, so that they do not keep
// the memory of a program; larger ones stay until somebody needs the memory.
#include "plugins/pjrt/program.h"

#include <cstring>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/kept_inputs.h"

namespace sgd::pjrt {
namespace {

constexpr size_t kCopiedBytes = 1 << 14;

}  // namespace

absl::StatusOr<std::shared_ptr<Program>> Program::Open(std::shared_ptr<RankPools> pools, std::string_view artifact) {
  auto file = artifact::ArtifactFile::FromBytes(artifact, "the compiled program");
  if (!file.ok()) return file.status();
  std::shared_ptr<Program> program(new Program(std::move(pools), *std::move(file)));
  if (absl::Status status = program->Start(); !status.ok()) return status;
  return program;
}

Program::~Program() {
  const std::lock_guard lock(pools_->mutex);
  Stop();
}

absl::Status Program::Start() {
  absl::StatusOr<RankPool*> pool = pools_->Of(ranks());
  if (!pool.ok()) return pool.status();
  auto job = (*pool)->Open(file_->root().window_bytes());
  if (!job.ok()) return job.status();
  job_ = *std::move(job);
  executors_ = std::vector<RankState>(ranks());
  const absl::StatusOr<const artifact::Program*> source = file_->FindProgram("main");
  if (!source.ok()) return source.status();
  keeps_input_.clear();
  for (uint32_t input = 0; input < artifact::Size((*source)->inputs()); ++input)
    keeps_input_.push_back(artifact::KeepsInput(file_->root(), **source, input));
  return job_->Run([this](Rank rank) { return Prepare(rank); });
}

void Program::Stop() {
  for (const std::weak_ptr<Storage>& weak : resident_) {
    if (auto storage = weak.lock()) storage->Forget();
  }
  resident_.clear();
  executors_.clear();
  job_ = nullptr;
}

absl::Status Program::Prepare(Rank rank) {
  RankState& state = executors_[rank.index];
  if (absl::Status status = rank.device->OpenLibraries(*file_); !status.ok()) return status;
  auto context = exec::ExecutionContext::Create(*file_, *rank.device, *rank.communicator);
  if (!context.ok()) return context.status();
  state.context = *std::move(context);
  auto executor = exec::Executor::Create(*state.context, "main", {});
  if (!executor.ok()) return executor.status();
  state.executor = *std::move(executor);
  state.held.resize(state.executor->inputs().size());
  return absl::OkStatus();
}

std::span<std::byte> Program::OutputBytes(uint32_t rank, size_t output) const {
  const std::span<const std::byte> bytes = executors_[rank].executor->OutputBytes(output);
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

exec::CarryPairs Program::CarriedBy(const Run& run) const {
  exec::CarryPairs pairs;
  std::set<size_t> taken;
  for (size_t input = 0; input < run.is_donated.size(); ++input) {
    const Storage& first = *run.inputs[0][input];
    if (!run.is_donated[input] || !first.is_resident()) continue;
    const size_t output = first.output();
    bool is_carried = !taken.contains(output);
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      const std::shared_ptr<Storage>& storage = run.inputs[rank][input];
      is_carried = is_carried && storage->IsOutput(*this, rank, output) && storage.use_count() == 1 &&
                   outputs(rank)[output].shard.type() == inputs(rank)[input].shard.type();
    }
    if (!is_carried) continue;
    pairs.emplace_back(output, input);
    taken.insert(output);
  }
  return pairs;
}

absl::Status Program::DetachOthers(const Run& run, const exec::CarryPairs& carried) {
  std::set<const Storage*> kept;
  for (const auto& [output, input] : carried) {
    for (const auto& inputs : run.inputs) kept.insert(inputs[input].get());
  }
  for (const std::weak_ptr<Storage>& weak : resident_) {
    const std::shared_ptr<Storage> storage = weak.lock();
    if (storage == nullptr || kept.contains(storage.get())) continue;
    if (absl::Status status = storage->Detach(); !status.ok()) return status;
  }
  resident_.clear();
  return absl::OkStatus();
}

absl::Status Program::LoadInputs(uint32_t rank, const Run& run, const exec::CarryPairs& carried) {
  RankState& state = executors_[rank];
  std::vector<bool> is_carried(run.is_donated.size());
  for (const auto& pair : carried) is_carried[pair.second] = true;
  for (size_t input = 0; input < is_carried.size(); ++input) {
    if (is_carried[input]) {
      state.held[input].reset();
      continue;
    }
    const std::shared_ptr<Storage>& storage = run.inputs[rank][input];
    if (keeps_input_[input] && state.held[input].lock() == storage) continue;
    const std::span<std::byte> target = state.executor->InputBytes(input);
    const std::span<const std::byte> source = storage->bytes();
    if (source.size() != target.size())
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", input, " has ", source.size(), " bytes on a device; expected ", target.size()));
    if (!source.empty()) std::memcpy(target.data(), source.data(), source.size());
    state.held[input] = storage;
  }
  return absl::OkStatus();
}

absl::Status Program::RunRank(uint32_t rank, const Run& run, const exec::CarryPairs& carried) {
  RankState& state = executors_[rank];
  if (!carried.empty()) {
    std::unique_ptr<exec::Carry>& carry = state.carries[carried];
    if (carry == nullptr) {
      auto created = exec::Carry::Create(*state.context, *state.executor, *state.executor, carried);
      if (!created.ok()) return created.status();
      carry = *std::move(created);
    }
    if (absl::Status status = carry->Run(); !status.ok()) return status;
  }
  if (absl::Status status = LoadInputs(rank, run, carried); !status.ok()) return status;
  return state.executor->Run(step_);
}

absl::Status Program::TakeOutputs(Run& run) {
  run.outputs.assign(ranks(), {});
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    for (size_t output = 0; output < outputs(rank).size(); ++output) {
      std::shared_ptr<Storage> storage = Storage::Resident(shared_from_this(), rank, output);
      if (storage->bytes().size() <= kCopiedBytes) {
        if (absl::Status status = storage->Detach(); !status.ok()) return status;
      } else {
        resident_.push_back(storage);
      }
      run.outputs[rank].push_back(std::move(storage));
    }
  }
  return absl::OkStatus();
}

absl::Status Program::Execute(Run& run) {
  if (job_ == nullptr) {
    Stop();
    if (absl::Status status = Start(); !status.ok()) {
      Stop();
      return status;
    }
  }
  const exec::CarryPairs carried = CarriedBy(run);
  if (absl::Status status = DetachOthers(run, carried); !status.ok()) return status;
  const absl::Status status = job_->Run([&](Rank rank) { return RunRank(rank.index, run, carried); });
  ++step_;
  if (!status.ok()) {
    Stop();
    return status;
  }
  return TakeOutputs(run);
}

}  // namespace sgd::pjrt
