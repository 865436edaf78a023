// An input that no step overwrites is copied only when another storage comes.
#include "plugins/pjrt/program_rank.h"

#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/kept_inputs.h"

namespace sgd::pjrt {
absl::Status ProgramRank::Prepare(const std::shared_ptr<const artifact::ArtifactFile>& file, const embed::Rank& rank,
                                  absl::Duration timeout) {
  if (absl::Status status = program_.Prepare(file, rank, "main", timeout); !status.ok()) return status;
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
    const std::span<std::byte> target = executor().InputBytes(input);
    const std::span<const std::byte> source = storage->bytes();
    if (source.size() != target.size())
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", input, " has ", source.size(), " bytes on a device; expected ", target.size()));
    if (!source.empty()) std::memcpy(target.data(), source.data(), source.size());
    held_[input] = storage;
  }
  return absl::OkStatus();
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

absl::Status ProgramRank::Execute(const ProgramRun& run, uint64_t step) {
  if (!run.carried.empty()) {
    if (absl::Status status = RunCarry(run.carried); !status.ok()) return status;
  }
  if (absl::Status status = LoadInputs(run); !status.ok()) return status;
  return executor().Run(step);
}

}  // namespace sgd::pjrt
