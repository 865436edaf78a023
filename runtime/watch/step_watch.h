// Watches the steps of all ranks: each rank measures and publishes its own, rank 0 looks for those that the others wait
// for. No step waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/watch/core_delay.h"
#include "runtime/watch/flight_ring.h"
#include "runtime/watch/rank_state.h"
#include "runtime/watch/straggler_finder.h"

namespace sgd::watch {

// A rank as messages name it.
struct RankPlace {
  std::string host;
  std::string cores;   // "core 3", "cores 0-3" or "GPU 1"
  uint32_t group = 0;  // ranks of a group run the same program
};

struct WatchOptions {
  RankPlace place;
  // Whether the time of collectives in a step is measured, as it is where the host executes them. Without it there is
  // no telling who waits for whom, and nobody is found.
  bool measures_waits = true;
  absl::Duration deadline = absl::Seconds(300);
  FlightRing* flight = nullptr;                       // where inputs and checkpoints are written down; may be null
  CoreDelay* delay = nullptr;                         // of this process; borrowed. Null: not measured
  std::function<OtherCores()> other_cores = nullptr;  // asked a few times a second; may be empty
};

// Belongs to the thread of the steps, but for the functions that say otherwise.
class StepWatch {
 public:
  // All ranks call it, and learn each other's places. Borrows `control`.
  static absl::StatusOr<std::unique_ptr<StepWatch>> Create(comm::Control& control, const WatchOptions& options);

  // Inputs are filled, or a checkpoint is saved, from here on.
  void FillsInputs() { Record(FlightKind::kFills); }
  void Saves() { Record(FlightKind::kSaves); }

  // Filling the inputs of the step that begins next took so long.
  void InputsFilled(absl::Duration time) { input_ += time; }
  // A step took `total`, of which `communication` in collectives and messages.
  void StepEnded(uint64_t step, absl::Duration total, absl::Duration communication);
  // A checkpoint held up the steps for `stall`, of which this rank waited `waited` for others.
  void Saved(absl::Duration stall, absl::Duration waited);

  // On rank 0: the stragglers found since the last call. Looks only when the last look is long enough ago.
  std::vector<Straggler> FindStragglers();

  // By rank; constant.
  const std::vector<RankPlace>& places() const { return places_; }
  bool measures_waits() const { return options_.measures_waits; }
  // On rank 0: the latest state of a rank; nothing before its first step. Any thread.
  std::optional<RankState> StateOf(uint32_t rank) const {
    return RankState::Of(control_.PublishedBy(comm::Control::Board::kSteps, rank));
  }

 private:
  StepWatch(comm::Control& control, const WatchOptions& options) : control_(control), options_(options) {}
  void Publish();
  void Record(FlightKind kind) {
    if (options_.flight != nullptr) options_.flight->Write(kind, 0);
  }

  comm::Control& control_;
  const WatchOptions options_;
  std::vector<RankPlace> places_;
  RankState state_;
  absl::Duration input_, checkpoint_;
  int64_t next_memory_ = 0;     // when to look at it again
  uint64_t publish_every_ = 1;  // steps, a power of two
  int64_t last_publish_ = 0;
  std::optional<StragglerFinder> finder_;  // on rank 0
  int64_t next_look_ = 0;
  int64_t look_cost_ = INT64_MAX / 1000;
};

// {"event": "straggler", "rank": 3, "host": "b", "cores": "cores 4-5", "step": 40, "ms": 1.5, "percent": 12.5, "cause":
// "compute"}, without a line end; of one that has lasted also "replaced" and, if it is not, the "reason".
std::string StragglerJson(const Straggler& straggler, const RankPlace& place);
// One line for a person.
std::string StragglerText(const Straggler& straggler, const RankPlace& place);

}  // namespace sgd::watch
