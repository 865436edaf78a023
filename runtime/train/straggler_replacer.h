// Has stragglers replaced: rank 0 decides and asks all to give way, and all tell their launchers which rank to start
// elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/replacement_board.h"
#include "runtime/train/straggler_replacement.h"
#include "runtime/watch/step_watch.h"

namespace sgd::train {

// Belongs to the thread of the steps.
class StragglerReplacer {
 public:
  // Borrows all but the options.
  StragglerReplacer(const ReplacementOptions& options, const watch::StepWatch& watch, comm::Control& control,
                    ReplacementBoard& board)
      : options_(options), watch_(watch), control_(control), board_(board) {}

  // On rank 0. A straggler was found, or has lasted: says in it what becomes of it. False where there is nothing new to
  // tell.
  bool Judge(watch::Straggler& straggler);
  // All ranks call it once they have stopped to give way to others. Errors as of Agreements::AllGatherBytes.
  absl::Status GiveWay(absl::Duration timeout);

 private:
  const ReplacementOptions options_;
  const watch::StepWatch& watch_;
  comm::Control& control_;
  ReplacementBoard& board_;
  std::optional<ReplacementBoard::Request> asked_;
  std::optional<std::pair<uint32_t, std::string>> told_;  // why a rank was not replaced
};

}  // namespace sgd::train
