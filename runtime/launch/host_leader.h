// The launcher that the others come to when the launchers of several hosts meet.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/tcp/control_link.h"
#include "runtime/comm/tcp/socket_address.h"
#include "runtime/launch/host_roster.h"

namespace sgd::launch {

struct HostMeetingOptions {
  std::vector<comm::HostAndPort> places;  // where launchers meet, in order of preference: at least one
  uint32_t node = 0;                      // the host that this launcher is of; `nodes` and above: a spare
  uint32_t nodes = 1;
  uint32_t spares = 0;  // equal on all launchers, as are `nodes`, the secret and the version
  std::string secret;
  absl::Duration timeout;
  // Called every few milliseconds, may be empty: the error of this launcher, which ends the meeting.
  std::function<absl::Status()> own_failure = nullptr;
  // Called when the launcher of a host has become a spare: returns its facts from then on. May be empty where none
  // gives way.
  std::function<std::string()> became_spare = nullptr;
  // Called with one line on each process that is turned away. May be empty.
  std::function<void(const std::string& note)> note = nullptr;
};

// Sent to a spare at the end of a run that did not need it.
inline constexpr char kRunHasEnded[] = "the run has ended";

// A launcher that has come to the leader.
struct HostLink {
  HostClaim claim;
  std::string place;
  comm::ControlLink link;
};

class HostLeader {
 public:
  // `waiting` are spares that have stayed connected since the meeting before; they are asked whether they are still
  // there. `begin`: when this
  // launcher began to look for the others.
  HostLeader(const HostMeetingOptions& options, HostClaim own, std::string place, std::vector<std::string> places,
             std::vector<HostLink> waiting, absl::Time begin);

  // Listens at `at` until every host has a launcher, and tells all what was agreed. Asks `has_other` now and then,
  // which says whether another launcher leads instead: then the error is Aborted, and all that have come go there by
  // themselves. DeadlineExceeded names the hosts that are missing.
  absl::StatusOr<HostRoster> Lead(const comm::HostAndPort& at, const std::function<bool()>& has_other);

  // After Lead: the spares that are left, which wait for the next meeting or the end.
  std::vector<HostLink> TakeWaiting() { return std::move(joined_); }

 private:
  struct Arriving {
    comm::ControlLink link;
    comm::Hello hello;
    absl::Time end;
    bool is_asked = false;  // a spare of the meeting before
  };

  absl::StatusOr<std::vector<size_t>> Collect(comm::TcpAcceptor& acceptor, const std::function<bool()>& has_other);
  absl::Status own_failure() const { return options_.own_failure ? options_.own_failure() : absl::OkStatus(); }
  absl::Status Hear();
  // Whether a spare has been asked whether it is still there, and may be about to answer.
  bool MayAnswer() const;
  absl::Status Admit(Arriving& arriving);
  absl::Status CheckJoined();
  // Of one that cannot join. At the first meeting that ends the job.
  absl::Status Refuse(Arriving& arriving, const std::string& why);
  HostRoster Agree(const std::vector<size_t>& assigned);
  absl::Status Missing() const;
  void Tell(const absl::Status& failure, comm::TcpAcceptor& acceptor);

  const HostMeetingOptions& options_;
  const HostClaim own_;
  const std::string place_;
  const std::vector<std::string> places_;  // known before
  std::vector<HostLink> joined_;
  const absl::Time begin_;
  std::list<Arriving> arriving_;
  absl::Time last_arrival_;
};

}  // namespace sgd::launch
