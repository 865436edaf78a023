// How ranks of several processes share the work of verifying the checkpoint that they resume, and agree on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/job.h"

namespace sgd::train {

// The step with which ranks begin, for the process that forks them: another one than it has prepared where the newest
// checkpoint is damaged.
class AgreedStep {
 public:
  // ResourceExhausted without memory.
  static absl::StatusOr<std::shared_ptr<AgreedStep>> Create();
  ~AgreedStep();
  AgreedStep(const AgreedStep&) = delete;
  AgreedStep& operator=(const AgreedStep&) = delete;

  // By a rank.
  void Set(uint64_t step) { step_->store(step + 1); }
  // By the process that has forked it; nothing as long as no rank has begun.
  std::optional<uint64_t> step() const;

 private:
  explicit AgreedStep(std::atomic<uint64_t>* step) : step_(step) {}

  std::atomic<uint64_t>* const step_;  // plus one; 0: none
};

// The rank of `ranks` that verifies file `file` of `files`: of as many hosts with as many ranks each as have written
// them, one of the host that did.
uint32_t VerifierOf(uint32_t file, uint32_t files, uint32_t ranks);

// All ranks of a job call it before they begin. Where its options say so and all resume a checkpoint: each verifies its
// files, all learn what all have found, and where one is damaged, or has not been seen by all, they prepare the job
// anew from the newest checkpoint before it that all see. `note` is called on each of them with the same lines about
// checkpoints that are passed over. Errors are equal on all ranks: those of OpenCheckpoint where none is left, and of
// Control.
absl::Status AgreeOnCheckpoint(Job& job, comm::Control& control, const std::function<void(const std::string&)>& note);

}  // namespace sgd::train
