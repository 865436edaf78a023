// Copies of the state in memory, from which further ranks of the same run go on when some have died.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/shared_snapshots.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/job.h"
#include "runtime/train/train_loop.h"

namespace sgd::train {

// Of all checkpoints of the job, but for their step.
checkpoint::TrainingPoint PointOf(const Job& job);

// The tensors of the job's state as copies in memory hold them.
std::vector<data::TensorSpec> StateSpecs(const Job& job);
uint64_t StateBytes(const Job& job);

// Gives the job, which ranks of this host will run, the copies that its options ask for: `kept` of it are used again
// where they fit. ResourceExhausted without memory for them.
absl::Status MakeCopies(uint32_t ranks, std::shared_ptr<checkpoint::SharedSnapshots> kept, Job& job);

// How many steps lie between copies: what the options say, else so many that copying costs little.
uint64_t SnapshotEvery(const Job& job);

class SnapshotSaver : public StateSaver {
 public:
  // `state` gives this rank's tensors; all are borrowed.
  SnapshotSaver(checkpoint::SharedSnapshots& snapshots, std::function<std::vector<checkpoint::LocalTensor>()> state,
                comm::Control& control, absl::Duration deadline)
      : snapshots_(snapshots), state_(std::move(state)), control_(control), deadline_(deadline) {}

  absl::Status Save(uint64_t steps_done) override {
    return snapshots_.Take(steps_done, state_(), {[this] { return control_.Poll(); }, deadline_});
  }

 private:
  checkpoint::SharedSnapshots& snapshots_;
  const std::function<std::vector<checkpoint::LocalTensor>()> state_;
  comm::Control& control_;
  const absl::Duration deadline_;
};

}  // namespace sgd::train
