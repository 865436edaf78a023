// Has stragglers replaced: decides, asks the ranks to give way, and tells the launcher which of them to start
// elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/comm/control/control.h"
#include "runtime/train/replacement_board.h"
#include "runtime/train/straggler_replacement.h"
#include "runtime/watch/straggler_finder.h"

namespace sgd::train {

// On rank 0. Belongs to the thread of the steps.
class StragglerReplacer {
 public:
  // Borrows control and board.
  StragglerReplacer(StragglerReplacement decision, comm::Control& control, ReplacementBoard& board)
      : decision_(std::move(decision)), control_(control), board_(board) {}

  // A straggler was found, or has lasted: says in it what becomes of it. False where there is nothing new to tell.
  bool Judge(watch::Straggler& straggler);
  // All ranks have stopped to give way to others.
  void GiveWay();

 private:
  StragglerReplacement decision_;
  comm::Control& control_;
  ReplacementBoard& board_;
  std::optional<uint32_t> asked_;                         // rank
  std::optional<std::pair<uint32_t, std::string>> told_;  // why a rank was not replaced
};

}  // namespace sgd::train
