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
#include "runtime/train/peer_state.h"
#include "runtime/train/train_loop.h"

namespace sgd::train {

// Of all checkpoints of the job, but for their step.
checkpoint::TrainingPoint PointOf(const Job& job);

// The tensors of the job's state as copies in memory hold them.
std::vector<data::TensorSpec> StateSpecs(const Job& job);
uint64_t StateBytes(const Job& job);

// Gives the job, whose ranks `host` this process starts, the copies that its options ask for: `kept` of it are used
// again where they fit. Copies hold what these ranks do. ResourceExhausted without memory for them.
absl::Status MakeCopies(const RankRange& host, std::shared_ptr<checkpoint::SharedSnapshots> kept, Job& job);

// How many steps lie between copies: what the options say, else so many that copying costs little.
uint64_t SnapshotEvery(const Job& job);

class SnapshotSaver : public StateSaver {
 public:
  // `rank`: this one's number on its host. `state` gives its tensors, divided among the ranks of the host. `peers` may
  // be null. All are borrowed.
  SnapshotSaver(checkpoint::SharedSnapshots& snapshots, uint32_t rank,
                std::function<std::vector<checkpoint::LocalTensor>()> state, PeerCopies* peers, comm::Control& control,
                absl::Duration deadline)
      : snapshots_(snapshots),
        rank_(rank),
        state_(std::move(state)),
        peers_(peers),
        control_(control),
        deadline_(deadline) {}

  absl::Status Save(uint64_t steps_done) override;

 private:
  checkpoint::SharedSnapshots& snapshots_;
  const uint32_t rank_;
  const std::function<std::vector<checkpoint::LocalTensor>()> state_;
  PeerCopies* const peers_;
  comm::Control& control_;
  const absl::Duration deadline_;
};

}  // namespace sgd::train
