// Looks for a leader at each place in turn, and leads at this host's own place once none before it answers.
#include "runtime/launch/host_meeting.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/tcp/tcp_socket.h"

namespace sgd::launch {
namespace {

using comm::ControlKind;

constexpr absl::Duration kPause = absl::Milliseconds(20);
constexpr absl::Duration kAttempt = absl::Milliseconds(200);  // for an answer from one place
constexpr absl::Duration kBetween = absl::Milliseconds(500);  // attempts of a leader to find one before it
constexpr absl::Duration kLeader = absl::Seconds(2);          // for the answer of a leader whose own timeout has come
constexpr absl::Duration kGrace = absl::Seconds(2);           // for launchers at places before one's own

// Another attempt, or another place, may do better.
bool MaySucceedLater(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
}

}  // namespace

HostMeeting::HostMeeting(HostMeetingOptions options) : options_(std::move(options)) {}

absl::StatusOr<HostRoster> HostMeeting::Meet(const std::string& facts) {
  facts_ = facts;
  begin_ = SteadyNow();
  leads_at_ = begin_ + kGrace;
  if (!may_lead()) waiting_.clear();
  while (true) {
    const HostClaim claim = OwnClaim();
    std::string problem = "nobody listens there";
    if (std::optional<absl::StatusOr<HostRoster>> roster = TryAll(claim, problem)) return Take(*std::move(roster));
    if (absl::Status failure = own_failure(); !failure.ok()) return failure;
    if (SteadyNow() > begin_ + options_.timeout) {
      std::vector<std::string> places;
      for (const comm::HostAndPort& place : options_.places) places.push_back(place.Text());
      return absl::DeadlineExceededError(
          absl::StrCat("cannot meet the launchers of other hosts at ", absl::StrJoin(places, ", "), " within ",
                       absl::FormatDuration(options_.timeout), ": ", problem,
                       "; expected one of them there; start it, let this host reach it, or raise --deadline"));
    }
    absl::SleepFor(kPause);
  }
}

std::optional<absl::StatusOr<HostRoster>> HostMeeting::TryAll(const HostClaim& claim, std::string& problem) {
  size_t own = may_lead() ? OwnPlace() : options_.places.size();
  // The first place may be behind a service's address, which no host has.
  const bool may_be_own = own == options_.places.size() && options_.node == 0 && generation_ == 0 && may_lead();
  if (may_be_own) own = 0;
  const bool is_first = own == 0 && (!may_be_own || options_.places.size() == 1);
  for (size_t i = 0; i < options_.places.size(); ++i) {
    if (i == own) {
      if (!is_first && SteadyNow() < leads_at_) continue;
      absl::StatusOr<HostRoster> roster = Lead(own, claim, is_first ? 0 : may_be_own ? options_.places.size() : own);
      if (absl::IsAborted(roster.status())) {
        leads_at_ = SteadyNow() + kGrace;
        return std::nullopt;
      }
      // On a host with several launchers another one may listen there.
      if (!absl::IsAlreadyExists(roster.status())) return roster;
      problem = std::string(roster.status().message());
    }
    absl::StatusOr<comm::ControlLink> link = Reach(options_.places[i]);
    if (link.ok()) return Follow(*std::move(link), claim, problem);
    if (generation_ == 0 && !MaySucceedLater(link.status())) return link.status();
    problem = std::string(link.status().message());
  }
  return std::nullopt;
}

absl::StatusOr<comm::ControlLink> HostMeeting::Reach(const comm::HostAndPort& place) const {
  comm::Hello hello;
  hello.rank = options_.node;
  hello.size = options_.nodes + options_.spares;
  hello.nodes = options_.nodes;
  hello.purpose = static_cast<uint32_t>(comm::LinkPurpose::kHost);
  hello.SetVersion(comm::BuildVersion());
  absl::StatusOr<comm::TcpConnection> connection =
      comm::ConnectOverTcp(place, options_.secret, hello, SteadyNow() + kAttempt, {});
  if (!connection.ok()) return connection.status();
  return comm::MakeLink(*std::move(connection), 0, /*is_listener=*/false);
}

std::optional<absl::StatusOr<HostRoster>> HostMeeting::Follow(comm::ControlLink link, const HostClaim& claim,
                                                              std::string& problem) {
  comm::SendFrame(link, ControlKind::kReady, EncodeClaim(claim));
  bool is_waiting = false;  // of a spare: for the next meeting
  std::optional<comm::ControlLink> other;
  absl::Time next = absl::InfiniteFuture();  // when a spare looks whether another launcher leads
  while (true) {
    if (SteadyNow() > next) {
      if (!other) other = ReachOther(link.address);
      next = SteadyNow() + kBetween;
    }
    if (absl::Status failure = own_failure(); !failure.ok()) {
      comm::SendFrame(link, ControlKind::kAbort, comm::EncodeAbort(options_.node, failure));
      return failure;
    }
    absl::StatusOr<comm::Frame> frame = comm::ReadFrame(link, SteadyNow() + kPause);
    if (other && absl::IsDeadlineExceeded(frame.status()) && comm::IsReadable(other->socket.get())) {
      absl::StatusOr<comm::Frame> of_other = comm::ReadFrame(*other, SteadyNow() + kPause);
      const bool leads = of_other.ok() && of_other->kind == static_cast<uint32_t>(ControlKind::kReady);
      if (leads) {
        link = *std::move(other);
        frame = std::move(of_other);
      }
      // Else ranks meet there, or it has found another leader itself.
      if (leads || !absl::IsDeadlineExceeded(of_other.status())) other.reset();
    }
    if (absl::IsDeadlineExceeded(frame.status())) {
      // The leader names those that are missing at its own timeout.
      if (is_waiting || SteadyNow() < begin_ + options_.timeout + kLeader) continue;
      return absl::DeadlineExceededError(absl::StrCat("the launcher at ", link.address,
                                                      " did not say in time whether all hosts have come; expected its "
                                                      "answer; see its own output, or raise --deadline"));
    }
    if (!frame.ok()) {
      problem = absl::StrCat("the launcher at ", link.address, " has gone");
      if (is_waiting) begin_ = SteadyNow();
      return std::nullopt;
    }
    if (frame->kind == static_cast<uint32_t>(ControlKind::kWho)) {
      comm::SendFrame(link, ControlKind::kReady, EncodeClaim(OwnClaim()));
      continue;
    }
    if (frame->kind == static_cast<uint32_t>(ControlKind::kDone)) return absl::CancelledError(kRunHasEnded);
    if (frame->kind == static_cast<uint32_t>(ControlKind::kAbort)) {
      const std::optional<comm::AbortMessage> abort = comm::DecodeAbort(frame->payload);
      return abort ? abort->cause : absl::InternalError("an unknown end");
    }
    std::optional<HostRoster> roster = DecodeRoster(frame->payload);
    if (!roster) return absl::InternalError(absl::StrCat("the launcher at ", link.address, " said something else"));
    if (roster->node < options_.nodes) return *std::move(roster);
    const bool was_spare = is_spare();
    Take(*std::move(roster)).status().IgnoreError();
    if (!was_spare && options_.became_spare) facts_ = options_.became_spare();
    is_waiting = true;
    other.reset();
    next = SteadyNow() + kBetween;
  }
}

HostClaim HostMeeting::OwnClaim() const {
  return {.node = options_.node,
          .generation = generation_,
          .launchers = launchers_,
          .gives_way = gives_way_,
          .facts = facts_};
}

std::optional<comm::ControlLink> HostMeeting::ReachOther(const std::string& leader) const {
  constexpr size_t kMost = 4;
  for (size_t i = 0; i < std::min(kMost, options_.places.size()); ++i) {
    if (options_.places[i].Text() == leader) continue;
    absl::StatusOr<comm::ControlLink> link = Reach(options_.places[i]);
    if (!link.ok()) continue;
    comm::SendFrame(*link, ControlKind::kReady, EncodeClaim(OwnClaim()));
    return *std::move(link);
  }
  return std::nullopt;
}

absl::StatusOr<HostRoster> HostMeeting::Lead(size_t own, const HostClaim& claim, size_t others) {
  std::vector<std::string> places;
  for (const comm::HostAndPort& place : options_.places) places.push_back(place.Text());
  HostLeader leader(options_, claim, places[own], places, std::exchange(waiting_, {}), begin_);
  absl::Time next = SteadyNow() + kBetween;
  const auto has_other = [&] {
    if (others == 0 || SteadyNow() < next) return false;
    next = SteadyNow() + kBetween;
    for (size_t i = 0; i < others; ++i) {
      if (i != own && Reach(options_.places[i]).ok()) return true;
    }
    return false;
  };
  absl::StatusOr<HostRoster> roster = leader.Lead(options_.places[own], has_other);
  if (roster.ok()) waiting_ = leader.TakeWaiting();
  return roster;
}

absl::StatusOr<HostRoster> HostMeeting::Take(absl::StatusOr<HostRoster> roster) {
  if (!roster.ok()) return roster;
  options_.node = roster->node;
  if (!is_spare()) gives_way_ = false;
  generation_ = roster->generation;
  launchers_ = roster->launchers;
  std::vector<comm::HostAndPort> places;
  for (const std::string& text : roster->places) {
    absl::StatusOr<comm::HostAndPort> place = comm::ParseHostAndPort(text);
    if (place.ok()) places.push_back(*std::move(place));
  }
  if (!places.empty()) options_.places = std::move(places);
  return roster;
}

size_t HostMeeting::OwnPlace() const {
  for (size_t i = 0; i < options_.places.size(); ++i) {
    const absl::StatusOr<std::vector<comm::SocketAddress>> addresses = comm::Resolve(options_.places[i]);
    if (!addresses.ok()) continue;
    // A host's own name may stand for loopback in its /etc/hosts.
    const bool is_own = std::ranges::any_of(*addresses, [&](const comm::SocketAddress& address) {
      return !comm::DeviceOf(address).empty() && (!address.IsLoopback() || options_.places[i].IsLoopback());
    });
    if (is_own) return i;
  }
  return options_.places.size();
}

absl::Status HostMeeting::own_failure() const {
  return options_.own_failure ? options_.own_failure() : absl::OkStatus();
}

void HostMeeting::Fail(const absl::Status& cause) {
  begin_ = SteadyNow();
  const absl::Time end = begin_ + absl::Seconds(1);
  if (OwnPlace() == 0 || options_.node == 0) {
    options_.own_failure = [&cause] { return cause; };
    // Another launcher of this host may listen there.
    if (!absl::IsAlreadyExists(Lead(0, OwnClaim(), 0).status())) return;
  }
  while (SteadyNow() < end) {
    for (const comm::HostAndPort& place : options_.places) {
      absl::StatusOr<comm::ControlLink> link = Reach(place);
      if (!link.ok()) continue;
      comm::SendFrame(*link, ControlKind::kAbort, comm::EncodeAbort(options_.node, cause));
      return;
    }
  }
}

void HostMeeting::TellEnd(const absl::Status& outcome) {
  for (HostLink& spare : waiting_) {
    if (outcome.ok()) {
      comm::SendFrame(spare.link, ControlKind::kDone, "");
    } else {
      comm::SendFrame(spare.link, ControlKind::kAbort, comm::EncodeAbort(options_.node, outcome));
    }
  }
  waiting_.clear();
}

}  // namespace sgd::launch
