// The ranks of other hosts that an operation waits for, and the one text that names them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/placement.h"

namespace sgd::comm {

// By what they owe; a rank may be in several lists, and several times in one.
struct AwaitedPeers {
  std::vector<uint32_t> senders;  // a message of their own
  std::vector<uint32_t> relays;   // a message that depends on one of another rank
  std::vector<uint32_t> takers;   // to take a message that this rank has sent
  std::vector<uint32_t> owners;   // a free place in their mailbox

  // Whether some wait for nobody else; those that do say so themselves first.
  bool is_direct() const { return !senders.empty() || relays.empty(); }
};

// A rank that waits for a relay lets that one name the absent rank first.
inline absl::Duration PatienceOf(absl::Duration timeout) { return std::min(timeout, absl::Seconds(2)); }

// "rank 2 (host b) sent nothing": the senders; without any, the relays, the takers or the owners.
std::string DescribeAwaited(AwaitedPeers awaited, const Placement& placement);

// DeadlineExceeded: "DESCRIPTION: rank 2 (host b) sent nothing within 30s".
absl::Status OverdueError(const std::string& description, const AwaitedPeers& awaited, const Placement& placement,
                          absl::Duration timeout);

}  // namespace sgd::comm
