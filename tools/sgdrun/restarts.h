// Decides whether a run whose ranks have been lost goes on, and from which state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/shared_snapshots.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/process/supervisor.h"
#include "runtime/train/job.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

// Of the process that starts the ranks of --restarts.
class Restarts {
 public:
  // `options` are those that the user has given.
  explicit Restarts(const Options& options) : options_(options), left_(options.run.restarts) {}

  bool is_on() const { return options_.run.restarts != 0; }
  // InvalidArgument where this process does not start the ranks.
  absl::Status CheckStarts(const launch::RankEnvironment& environment) const;

  // Gives the job memory for copies of its state, before its ranks are started: the same as before where its tensors
  // are the same. ResourceExhausted without memory.
  absl::Status Keep(const launch::RankEnvironment& environment, train::Job& job);

  // The job has ended with `status`. True when it is to be started again: then options() and TakeKept() are those of
  // the next one. Notes and logs the loss.
  bool GoesOn(const absl::Status& status);
  // Called when ranks fail.
  void Note(const process::Failure& failure) { failure_ = failure; }

  const Options& options() const { return options_; }
  // The state in memory to go on from, if that is newer than any checkpoint.
  std::optional<checkpoint::Checkpoint> TakeKept() { return std::exchange(kept_, std::nullopt); }

 private:
  void ChooseState();
  void LogLoss() const;

  Options options_;  // of the next job
  uint64_t left_;
  std::optional<uint64_t> end_;  // steps done when the run is done
  std::optional<process::Failure> failure_;
  std::shared_ptr<checkpoint::SharedSnapshots> snapshots_;
  std::optional<checkpoint::Checkpoint> kept_;
};

}  // namespace sgd::sgdrun
