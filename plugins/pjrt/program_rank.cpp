// An input that no step overwrites is copied only when another storage comes.
#include "plugins/pjrt/program_rank.h"

#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/kept_inputs.h"

namespace sgd::pjrt {
absl::Status ProgramRank::Prepare(const std::shared_ptr<const artifact::ArtifactFile>& file, const embed::Rank& rank,
                                  absl::Duration timeout, exec::HostCallHandler handler) {
  if (absl::Status status = program_.Prepare(file, rank, "main", timeout, std::move(handler)); !status.ok())
    return status;
  const absl::StatusOr<const artifact::Program*> source = file->FindProgram("main");
  if (!source.ok()) return source.status();
  for (uint32_t input = 0; input < artifact::Size((*source)->inputs()); ++input)
    keeps_input_.push_back(artifact::KeepsInput(file->root(), **source, input));
  held_.resize(keeps_input_.size());
  return absl::OkStatus();
}

absl::Status ProgramRank::LoadInputs(const ProgramRun& run) {
  std::vector<bool> is_carried(run.is_donated.size());
  for (const auto& pair : run.carried) is_carried[pair.second] = true;
  for (size_t input = 0; input < is_carried.size(); ++input) {
    if (is_carried[input]) {
      held_[input].reset();
      continue;
    }
    const std::shared_ptr<Storage>& storage = run.inputs[index_][input];
    if (keeps_input_[input] && held_[input].lock() == storage) continue;
    if (absl::Status status = LoadInput(input, *storage); !status.ok())
      return absl::Status(status.code(), absl::StrCat("argument ", input, ": ", status.message()));
    held_[input] = storage;
  }
  return absl::OkStatus();
}

absl::Status ProgramRank::LoadInput(size_t input, Storage& storage) {
  const exec::Tensor& tensor = executor().inputs()[input];
  const uint64_t bytes = tensor.is_held ? tensor.shard.local_bytes() : 0;
  if (storage.size() != bytes)
    return absl::InvalidArgumentError(absl::StrCat("it has ", storage.size(), " bytes on a device; expected ", bytes));
  if (bytes == 0) return absl::OkStatus();
  if (!pools_->target().is_host_memory()) return storage.CopyTo(*program_.device, pools_, device_, tensor.bytes);
  const absl::StatusOr<std::span<const std::byte>> source = storage.HostBytes();
  if (source.ok()) std::memcpy(executor().InputBytes(input).data(), source->data(), bytes);
  return source.status();
}

absl::Status ProgramRank::RunCarry(const exec::CarryPairs& carried) {
  std::unique_ptr<exec::Carry>& carry = carries_[carried];
  if (carry == nullptr) {
    auto created = exec::Carry::Create(*program_.context, executor(), executor(), carried);
    if (!created.ok()) return created.status();
    carry = *std::move(created);
  }
  return carry->Run();
}

absl::Status ProgramRank::Load(const ProgramRun& run) {
  if (!run.carried.empty()) {
    if (absl::Status status = RunCarry(run.carried); !status.ok()) return status;
  }
  return LoadInputs(run);
}

}  // namespace sgd::pjrt
