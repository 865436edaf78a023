// Saves checkpoints of a run into a folder and removes those that are no longer wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/train/train_loop.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

struct SavingOptions {
  std::string directory;
  uint64_t keep = 0;  // how many checkpoints stay; 0: all
  absl::Duration deadline = absl::Seconds(300);
  checkpoint::TrainingPoint point;  // of every checkpoint, but for its step
};

class CheckpointSaver : public StateSaver {
 public:
  // `state` gives this rank's tensors whenever state is saved, under the same names on all ranks. `ranks` and
  // `observer`, which is null on ranks that tell nobody, are borrowed.
  CheckpointSaver(SavingOptions options, std::function<std::vector<checkpoint::LocalTensor>()> state,
                  comm::Agreements& ranks, TrainObserver* observer)
      : options_(std::move(options)), state_(std::move(state)), ranks_(ranks), observer_(observer) {}

  // Errors as of checkpoint::Save. Old checkpoints that cannot be removed are noted: the new one is complete.
  absl::Status Save(uint64_t steps_done) override;

 private:
  const SavingOptions options_;
  const std::function<std::vector<checkpoint::LocalTensor>()> state_;
  comm::Agreements& ranks_;
  TrainObserver* const observer_;
};

}  // namespace sgd::train
