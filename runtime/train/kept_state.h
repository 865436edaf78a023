// Copies of the state in memory, from which further ranks of the same run go on when some have died.
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
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/shared_snapshots.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/copy_intervals.h"
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

// Of each rank: fills copies, and sends what the next host has not beside the steps that follow.
class SnapshotSaver : public StateSaver {
 public:
  struct Options {
    uint32_t rank = 0;     // this one's number on its host
    uint64_t every = 1;    // steps between copies, at least
    bool by_cost = false;  // more where they cost more than a small share of the time
    uint64_t first_step = 0;
    comm::Control& control;
    absl::Duration deadline;
    std::function<void(const std::string&)> note = nullptr;  // of the rank that tells how often copies are made
  };

  // `state` gives this rank's tensors, divided among the ranks of the host. `peers` may be null. All are borrowed.
  SnapshotSaver(checkpoint::SharedSnapshots& snapshots, std::function<std::vector<checkpoint::LocalTensor>()> state,
                PeerCopies* peers, Options options)
      : snapshots_(snapshots),
        state_(std::move(state)),
        peers_(peers),
        options_(std::move(options)),
        intervals_({.every = options_.every, .by_cost = options_.by_cost}, options_.first_step) {}

  absl::Status Save(uint64_t steps_done) override;
  absl::Status StepEnded(uint64_t steps_done) override;
  std::optional<uint64_t> interval() const override {
    return options_.by_cost ? std::optional(intervals_.every()) : std::nullopt;
  }

 private:
  absl::Status FinishSending();
  absl::Status Judge(uint64_t steps_done, absl::Duration stall);

  checkpoint::SharedSnapshots& snapshots_;
  const std::function<std::vector<checkpoint::LocalTensor>()> state_;
  PeerCopies* const peers_;
  const Options options_;
  CopyIntervals intervals_;
  bool is_sending_ = false;
  uint64_t finish_at_ = 0;  // steps done
};

}  // namespace sgd::train
