// Observer of training, on the rank that reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/trace/json_log.h"
#include "runtime/watch/job_status.h"
#include "runtime/watch/step_watch.h"

namespace sgd::train {

// Means of an evaluation, by name.
using EvalMeans = std::vector<std::pair<std::string, double>>;

// That all ranks have stopped because the user asked for it.
struct StopRecord {
  int signal = 0;
  uint64_t steps_done = 0;  // by the run and those before it
  bool has_run = false;     // whether this run has done any of them
  bool is_saved = false;    // whether a checkpoint holds the state after them
};

// A checkpoint, and what it cost.
struct SaveRecord {
  uint64_t steps_done = 0;
  absl::Duration stall;     // how long steps had to wait
  absl::Duration duration;  // until it was complete
  absl::Duration cpu;       // processor time of the thread that has written it
  uint64_t bytes = 0;
  std::optional<uint64_t> bytes_on_disk = {};  // where that is less, since it is compressed
};

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;

  // Before the first step. `watch` lives until Ended has returned. An error ends the run.
  virtual absl::Status Begun(const watch::JobFacts& /*facts*/, const watch::StepWatch& /*watch*/) {
    return absl::OkStatus();
  }
  // No more steps come, whether or not the run has failed.
  virtual void Ended() {}

  // Steps come in order, each once. `eval` is null where nothing was evaluated after the step. An error ends the loop.
  virtual absl::Status StepEnded(const trace::StepRecord& step, const EvalMeans* eval) = 0;
  // The others wait for a rank in most steps. An error ends the loop.
  virtual absl::Status StragglerFound(const watch::Straggler& /*straggler*/, const watch::RankPlace& /*place*/) {
    return absl::OkStatus();
  }
  virtual void Stopped(const StopRecord& stop) = 0;
  // Of a run without steps that only prepares: all is there and the first batch was read.
  virtual void Prepared() {}
  // Of a run that only evaluates: the results of the state after `steps_done` steps. An error ends the run.
  virtual absl::Status Evaluated(uint64_t /*steps_done*/, const EvalMeans& /*means*/) { return absl::OkStatus(); }
  // A checkpoint is complete.
  virtual absl::Status Saved(const SaveRecord& /*save*/) { return absl::OkStatus(); }
  // Receives an event beside steps, as a JSON object with the field "event", for logs. An error ends the loop.
  virtual absl::Status Event(const std::string& /*json*/) { return absl::OkStatus(); }
  // Worth telling, no error.
  virtual void Note(const std::string& text) = 0;
};

}  // namespace sgd::train
