// How ranks of several hosts find each other: rank 0 listens at an address that all know, the others connect.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/comm/tcp/control_link.h"
#include "runtime/comm/tcp/socket_address.h"
#include "runtime/comm/tcp/tcp_connection.h"

namespace sgd::comm {

struct TcpMeetingOptions {
  HostAndPort place;  // of rank 0, equal on all ranks
  uint32_t rank = 0;
  uint32_t size = 1;
  std::string secret;  // equal on all ranks; may be empty on loopback
  absl::Duration timeout;
  uint32_t nodes = 0;                    // --nnodes, equal on all ranks; 0 for ranks that no launcher of ours started
  std::string version = BuildVersion();  // equal on all ranks
  // Called every few milliseconds, may be empty: returns an error of this rank, which then cannot join. The others
  // receive it.
  std::function<absl::Status()> own_failure = nullptr;
  // Called on rank 0 with one line on each process that has connected and is refused, as by TcpAcceptor; elsewhere with
  // one when the place's name has not been resolved for 5 seconds. May be empty.
  std::function<void(const std::string& note)> note = nullptr;
  // Of rank 0, borrowed: listens at `place` already. Null: rank 0 begins to.
  TcpAcceptor* acceptor = nullptr;
};

// Rank 0's links to all others, in the order of ranks; another rank's to rank 0. Errors: ranks that contradict each
// other or are of different builds (FailedPrecondition, said on every rank), missing ones at the timeout
// (DeadlineExceeded, naming them), one that failed or ended meanwhile (its own error or Unavailable), another secret
// (PermissionDenied), a port in use (AlreadyExists). Whoever else connects is turned away and changes nothing.
absl::StatusOr<std::vector<ControlLink>> MeetOverTcp(const TcpMeetingOptions& options);

// Tells the meeting, from another process, that rank `options.rank` has ended before it came, and why: the ranks that
// wait for it end at once and name it. In rank 0's place, where that is the one, to those that are looking for it.
// Whether anybody heard; takes about half a second when nobody does.
bool ReportDeath(const TcpMeetingOptions& options, const absl::Status& cause);

// Tells those at the other ends, who have met, that this rank ends and why.
void TellAbort(std::vector<ControlLink>& links, uint32_t rank, const absl::Status& cause);

}  // namespace sgd::comm
