// How the launchers of several hosts find each other before they start ranks, and again when some have been lost: at
// the first of the places they know where one of them listens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/launch/host_leader.h"

namespace sgd::launch {

// Of one launcher. Starts no thread, and holds no port between meetings.
class HostMeeting {
 public:
  explicit HostMeeting(HostMeetingOptions options);

  // Waits until every host has a launcher. A spare waits until it takes a host's place; Cancelled with kRunHasEnded
  // when the run has not needed it. Each launcher gives its `facts` and gets those of the hosts. Errors: missing
  // launchers at the timeout (DeadlineExceeded, naming them), another launcher's own failure, another secret
  // (PermissionDenied).
  absl::StatusOr<HostRoster> Meet(const std::string& facts);

  // From the next meeting on this launcher is a spare, if there is another one for its host: its own is slow.
  void GiveWay() { gives_way_ = true; }

  // Tells the others that this launcher cannot come, and why; takes at most about a second.
  void Fail(const absl::Status& cause);

  // Tells spares that wait here that the run has ended.
  void TellEnd(const absl::Status& outcome);

 private:
  // Nothing: another attempt may succeed, and `problem` says why this one did not.
  std::optional<absl::StatusOr<HostRoster>> TryAll(const HostClaim& claim, std::string& problem);
  std::optional<absl::StatusOr<HostRoster>> Follow(comm::ControlLink link, const HostClaim& claim,
                                                   std::string& problem);
  HostClaim OwnClaim() const;
  // Of a spare that waits at `leader`, which may have been cut off without a word: a launcher that leads at another of
  // the first places, who has been told of this one.
  std::optional<comm::ControlLink> ReachOther(const std::string& leader) const;
  absl::StatusOr<comm::ControlLink> Reach(const comm::HostAndPort& place) const;
  // Leaves that to a launcher that leads at one of the first `others` places, where there is one.
  absl::StatusOr<HostRoster> Lead(size_t own, const HostClaim& claim, size_t others);
  absl::StatusOr<HostRoster> Take(absl::StatusOr<HostRoster> roster);
  // Which of the places is this host's; as many as there are where none is.
  size_t OwnPlace() const;
  absl::Status own_failure() const;
  bool is_spare() const { return options_.node >= options_.nodes; }
  // Others lead: spares stay connected to the leader, and this launcher may be one when the meeting ends.
  bool may_lead() const { return !is_spare() && !gives_way_; }

  HostMeetingOptions options_;
  std::string facts_;    // of the last meeting
  absl::Time begin_;     // of the wait for a leader
  absl::Time leads_at_;  // not before, where another launcher should
  uint64_t generation_ = 0;
  uint32_t launchers_ = 0;
  bool gives_way_ = false;
  std::vector<HostLink> waiting_;  // spares
};

}  // namespace sgd::launch
