// The carried state of one rank as a guard sees it: checksums, a copy to go back to, and which ranks hold the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/guard/checksum.h"
#include "runtime/guard/replicas.h"
#include "runtime/train/session.h"

namespace sgd::train {

class GuardedState {
 public:
  // Borrows the session.
  explicit GuardedState(Session& session);

  // Carried inputs of the program, those of other stages included. All below are by position in this list.
  size_t size() const { return inputs_.size(); }
  size_t input(size_t tensor) const { return inputs_[tensor]; }
  std::string name(size_t tensor) const;
  const std::vector<guard::ReplicaClass>& classes() const { return classes_; }

  // Of what this rank holds; of others that of no bytes. Between two steps.
  std::vector<guard::TensorSum> Sum() const;
  // Whether a tensor still has this sum.
  bool IsUnchanged(size_t tensor, const guard::TensorSum& sum) const { return SumOf(tensor) == sum; }
  // The tensors that an instruction of a step writes to; empty on devices with streams.
  std::span<const size_t> WrittenBy(uint64_t instruction) const;
  // Of each class, of this rank's sums.
  std::vector<uint64_t> Digests(std::span<const guard::TensorSum> sums) const;

  // Copies the state, and makes the state that copy.
  absl::Status Keep() { return session_.state().Snapshot(kept_); }
  absl::Status GoBack() { return session_.state().Restore(kept_); }
  bool has_kept() const { return !kept_.is_empty(); }

 private:
  bool IsHeld(size_t tensor) const { return session_.executor().inputs()[inputs_[tensor]].is_held; }
  guard::TensorSum SumOf(size_t tensor) const;
  std::vector<guard::HeldTensor> HeldTensors() const;
  void FindWriters();

  Session& session_;
  std::vector<size_t> inputs_;
  std::vector<guard::ShardBytes> bytes_;
  std::map<uint64_t, std::vector<size_t>> written_by_;
  std::vector<guard::ReplicaClass> classes_;
  StateSnapshot kept_;
};

}  // namespace sgd::train
