// Decides whether a rank that holds up the others is started again elsewhere. Plain data: others stop the ranks, and
// start the next ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/train/replacement_board.h"
#include "runtime/watch/rank_state.h"
#include "runtime/watch/straggler_finder.h"

namespace sgd::train {

struct ReplacementOptions {
  uint64_t every = 0;            // steps that lie between two replacements, at least; 0: nobody is replaced
  std::optional<uint64_t> last;  // the step before which somebody was replaced last
  uint64_t restarts_left = 0;
  bool has_spare_host = false;  // that may take the place of the straggler's
};

// Where a straggler is started again, or why it is not.
struct Replacement {
  std::optional<ReplacementBoard::Place> place;
  std::string reason;
};

// A straggler has lasted until `straggler.step`. `other_cores` are those of its own host, as it says.
Replacement DecideOnReplacement(const ReplacementOptions& options, const watch::Straggler& straggler,
                                watch::OtherCores other_cores);

}  // namespace sgd::train
