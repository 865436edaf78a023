// The ranks of other hosts that an operation waits for, and the one text that names them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/placement.h"

namespace sgd::comm {

// By what they owe; a rank may be in several lists, and several times in one.
struct AwaitedPeers {
  std::vector<uint32_t> senders;  // a message of their own
  std::vector<uint32_t> relays;   // a message that depends on one of another rank
  std::vector<uint32_t> takers;   // to take a message that this rank has sent
  std::vector<uint32_t> owners;   // a free place in their mailbox

  // All of them, once each.
  std::vector<uint32_t> All() const;
  // " sent nothing", the first of the lists that has this rank.
  const char* Owes(uint32_t rank) const;
};

// The error of a wait that has taken too long: the ranks at fault, as of LateError; or the job's end, if that came
// first.
absl::Status OverdueError(const std::string& description, const AwaitedPeers& awaited, Control& control,
                          const Placement& placement, absl::Duration timeout);

}  // namespace sgd::comm
