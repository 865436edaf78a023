// Saves checkpoints of a run into a folder and removes those that are no longer wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/background_saves.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/job.h"
#include "runtime/train/train_loop.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

struct SavingOptions {
  std::string directory;
  checkpoint::KeepPolicy keep;
  absl::Duration deadline = absl::Seconds(300);
  checkpoint::TrainingPoint point;  // of every checkpoint, but for its step and metrics
  SaveGroup group = {};             // of this rank
  uint64_t total_bytes = 0;         // of the state
  checkpoint::ZstdLevel level = checkpoint::kNotCompressed;
};

// This rank's tensors whenever state is saved, under the same names on all ranks.
using LocalState = std::function<std::vector<checkpoint::LocalTensor>()>;

// All ranks write a checkpoint together, between two steps.
class CheckpointSaver : public StateSaver {
 public:
  // `ranks` and `observer`, which is null on ranks that tell nobody, are borrowed.
  CheckpointSaver(SavingOptions options, LocalState state, comm::Agreements& ranks, TrainObserver* observer)
      : options_(std::move(options)), state_(std::move(state)), ranks_(ranks), observer_(observer) {}

  // Errors as of checkpoint::Save. Old checkpoints that cannot be removed are noted: the new one is complete.
  absl::Status Save(uint64_t steps_done) override;
  void Evaluated(const EvalMeans& means) override { options_.point.metrics = means; }
  absl::Duration stall() const override { return stall_; }
  std::string Doubt(uint64_t steps_done) override;

 private:
  SavingOptions options_;
  const LocalState state_;
  comm::Agreements& ranks_;
  TrainObserver* const observer_;
  absl::Duration stall_;  // of the last save
};

// Ranks copy their state into memory that those of a group share, and the first of each writes that beside the steps.
// A save that fails is noted, and steps go on, but for the last one.
class BackgroundSaver : public StateSaver {
 public:
  // All are borrowed; `observer` is null on ranks that tell nobody. ResourceExhausted without a thread.
  static absl::StatusOr<std::unique_ptr<BackgroundSaver>> Create(SavingOptions options,
                                                                 checkpoint::SharedSnapshot& copy, LocalState state,
                                                                 comm::Control& control, TrainObserver* observer);

  // Waits for the save before.
  absl::Status Save(uint64_t steps_done) override;
  void Evaluated(const EvalMeans& means) override { options_.point.metrics = means; }
  absl::Duration stall() const override { return stall_; }
  void TellEnded() override;
  absl::Status Finish() override;
  std::string Doubt(uint64_t steps_done) override;

 private:
  BackgroundSaver(SavingOptions options, checkpoint::SharedSnapshot& copy, LocalState state, comm::Control& control,
                  TrainObserver* observer)
      : options_(std::move(options)), copy_(copy), state_(std::move(state)), control_(control), observer_(observer) {}
  absl::Status Tell(const checkpoint::SaveOutcome& outcome);

  SavingOptions options_;
  checkpoint::SharedSnapshot& copy_;
  const LocalState state_;
  comm::Control& control_;
  TrainObserver* const observer_;
  std::unique_ptr<checkpoint::BackgroundSaves> saves_;  // of the first rank of a group
  absl::Duration stall_;                                // of the last save
  absl::Status last_;                                   // of the last save that was told of
};

}  // namespace sgd::train
