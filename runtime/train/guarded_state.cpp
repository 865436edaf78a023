// The order of tensors is that of the program's inputs on all ranks.
#include "runtime/train/guarded_state.h"

#include <algorithm>

#include "runtime/artifact/accesses.h"

namespace sgd::train {

GuardedState::GuardedState(Session& session) : session_(session) {
  const Job& job = session.job();
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (!job.IsCarried(i)) continue;
    inputs_.push_back(i);
    bytes_.emplace_back(session.executor().inputs()[i].shard);
  }
  classes_ =
      guard::ClassesOf(HeldTensors(), session.context().mesh(), static_cast<uint32_t>(job.file->ranks_of_stage()));
  if (!session.has_streams()) FindWriters();
}

void GuardedState::FindWriters() {
  const artifact::Program& own = session_.executor().prepared().source();
  for (uint32_t i = 0; i < artifact::Size(own.instructions()); ++i) {
    const artifact::Accesses accesses = artifact::AccessesOf(*own.instructions()->Get(i));
    for (size_t tensor = 0; tensor < size(); ++tensor) {
      const auto& whole = session_.job().program.whole.inputs[inputs_[tensor]];
      const artifact::Holder* holder = whole.HolderOf(session_.context().stage());
      if (holder == nullptr) continue;
      const artifact::Slice& slice = *own.inputs()->Get(holder->index)->slice();
      if (std::ranges::any_of(accesses.writes, [&](const auto& written) { return artifact::Overlap(written, slice); }))
        written_by_[i].push_back(tensor);
    }
  }
}

std::span<const size_t> GuardedState::WrittenBy(uint64_t instruction) const {
  const auto found = written_by_.find(instruction);
  return found == written_by_.end() ? std::span<const size_t>() : found->second;
}

std::vector<guard::HeldTensor> GuardedState::HeldTensors() const {
  const Job& job = session_.job();
  const size_t stages = artifact::Size(job.file->root().stages());
  std::vector<guard::HeldTensor> tensors;
  for (size_t input : inputs_) {
    const artifact::Whole<artifact::Input>& whole = job.program.whole.inputs[input];
    tensors.push_back({data::TypeOf(whole, stages), whole.holders});
  }
  return tensors;
}

std::string GuardedState::name(size_t tensor) const {
  return ShortName(session_.job().program.inputs[inputs_[tensor]].name);
}

guard::TensorSum GuardedState::SumOf(size_t tensor) const {
  return IsHeld(tensor) ? bytes_[tensor].Sum(session_.state().Bytes(inputs_[tensor])) : guard::TensorSum{};
}

std::vector<guard::TensorSum> GuardedState::Sum() const {
  std::vector<guard::TensorSum> sums;
  for (size_t i = 0; i < size(); ++i) sums.push_back(SumOf(i));
  return sums;
}

std::vector<uint64_t> GuardedState::Digests(std::span<const guard::TensorSum> sums) const {
  std::vector<uint64_t> digests;
  for (const guard::ReplicaClass& replicas : classes_) {
    std::vector<uint64_t> of_class;
    for (size_t tensor : replicas.tensors) of_class.push_back(sums[tensor].sum);
    digests.push_back(guard::CombinedSum(of_class));
  }
  return digests;
}

}  // namespace sgd::train
