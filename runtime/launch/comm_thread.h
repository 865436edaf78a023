// Whether the ranks of a job run collectives on threads of their own.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"

namespace sgd::launch {

// Whether collectives that are started run on a thread of their own (Communicator::Start). kAuto: when
// every rank has a core that none of its compute threads needs, or ranks are on several hosts, since a network needs
// little of a core.
enum class CommThread { kAuto, kOn, kOff };

struct CommThreadChoice {
  bool starts = false;
  bool has_own_core = false;  // every rank has a spare core for it
};

// All ranks call it, as those with a thread and those without come to collectives in another order.
// FailedPrecondition when they were started with another choice.
absl::StatusOr<CommThreadChoice> AgreeOnCommThread(comm::Control& control, CommThread choice, bool has_spare_core,
                                                   absl::Duration timeout);

}  // namespace sgd::launch
