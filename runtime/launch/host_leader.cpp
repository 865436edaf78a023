// One loop over a listener and those that have come.
#include "runtime/launch/host_leader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/tcp/tcp_socket.h"

namespace sgd::launch {
namespace {

using comm::ControlKind;

constexpr absl::Duration kSlice = absl::Milliseconds(20);
constexpr absl::Duration kClaim = absl::Seconds(5);          // for what comes after the handshake
constexpr absl::Duration kAnswer = absl::Seconds(2);         // of a spare that waits
constexpr absl::Duration kLastCall = absl::Seconds(2);       // since the last arrival, before spares take places
constexpr absl::Duration kLinger = absl::Milliseconds(500);  // after an error, for those that are about to come

// The address that a launcher has connected from, with the port where launchers meet.
std::string PlaceOf(const std::string& peer, uint16_t port) {
  return absl::StrCat(peer.substr(0, peer.rfind(':')), ":", port);
}

// By member: the host whose ranks it starts, or its number as a spare. One that was a host's gets that of a spare which
// has become one.
std::vector<uint32_t> Numbers(const std::vector<HostMember>& members, const std::vector<size_t>& assigned,
                              uint32_t nodes) {
  std::vector<uint32_t> numbers, free;
  for (const HostMember& member : members) numbers.push_back(member.claim.node);
  for (size_t member : assigned) {
    if (numbers[member] >= nodes) free.push_back(numbers[member]);
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const auto at = std::ranges::find(assigned, i);
    if (at != assigned.end()) {
      numbers[i] = static_cast<uint32_t>(at - assigned.begin());
    } else if (numbers[i] < nodes) {
      numbers[i] = free.back();
      free.pop_back();
    }
  }
  return numbers;
}

}  // namespace

HostLeader::HostLeader(const HostMeetingOptions& options, HostClaim own, std::string place,
                       std::vector<std::string> places, std::vector<HostLink> waiting, absl::Time begin)
    : options_(options),
      own_(std::move(own)),
      place_(std::move(place)),
      places_(std::move(places)),
      begin_(begin),
      last_arrival_(SteadyNow()) {
  // One that was cut off is silent, and does not count.
  for (HostLink& spare : waiting) {
    comm::Hello hello;
    hello.nodes = options_.nodes;
    hello.size = options_.nodes + options_.spares;
    hello.SetVersion(comm::BuildVersion());
    comm::SendFrame(spare.link, ControlKind::kWho, "");
    spare.link.rank = spare.claim.node;
    arriving_.push_back({std::move(spare.link), hello, SteadyNow() + kAnswer, /*is_asked=*/true});
  }
}

absl::StatusOr<HostRoster> HostLeader::Lead(const comm::HostAndPort& at, const std::function<bool()>& has_other) {
  absl::StatusOr<std::vector<size_t>> assigned;
  {
    absl::StatusOr<comm::TcpAcceptor> acceptor = comm::ListenAt(at, options_.secret, options_.note);
    if (!acceptor.ok()) return acceptor.status();
    assigned = Collect(*acceptor, has_other);
    const absl::Status failure = assigned.ok() ? absl::OkStatus() : own_failure();
    if (!failure.ok()) {
      Tell(absl::Status(failure.code(), absl::StrCat("host ", own_.node, ": ", failure.message())), *acceptor);
    } else if (!assigned.ok() && !absl::IsAborted(assigned.status())) {
      Tell(assigned.status(), *acceptor);
    }
  }
  // Nobody listens here any more when ranks begin to meet at this place.
  if (!assigned.ok()) {
    joined_.clear();
    return assigned.status();
  }
  return Agree(*assigned);
}

absl::StatusOr<std::vector<size_t>> HostLeader::Collect(comm::TcpAcceptor& acceptor,
                                                        const std::function<bool()>& has_other) {
  const absl::Time end = SteadyNow() + options_.timeout;
  while (true) {
    if (absl::Status failure = own_failure(); !failure.ok()) return failure;
    std::vector<HostMember> members = {{own_, place_}};
    for (const HostLink& link : joined_) members.push_back({link.claim, link.place});
    const bool is_due = SteadyNow() > last_arrival_ + kLastCall;
    std::optional<std::vector<size_t>> assigned = AssignNodes(members, options_.nodes, options_.spares, is_due);
    if (assigned && !MayAnswer()) return *std::move(assigned);
    if (SteadyNow() > end) return Missing();
    if (has_other()) return absl::AbortedError("another launcher leads");
    std::vector<int> sockets;
    for (const HostLink& link : joined_) sockets.push_back(link.link.socket.get());
    for (const Arriving& arriving : arriving_) sockets.push_back(arriving.link.socket.get());
    absl::StatusOr<std::vector<comm::TcpConnection>> proven = acceptor.Accept(kSlice, sockets);
    if (!proven.ok()) return proven.status();
    for (comm::TcpConnection& connection : *proven) {
      const comm::Hello hello = connection.hello;
      if (hello.purpose == static_cast<uint32_t>(comm::LinkPurpose::kRank)) continue;
      arriving_.push_back(
          {comm::MakeLink(std::move(connection), hello.rank, /*is_listener=*/true), hello, SteadyNow() + kClaim});
    }
    absl::Status status = Hear();
    if (status.ok()) status = CheckJoined();
    if (!status.ok()) return status;
  }
}

bool HostLeader::MayAnswer() const { return std::ranges::any_of(arriving_, &Arriving::is_asked); }

absl::Status HostLeader::Hear() {
  for (auto at = arriving_.begin(); at != arriving_.end();) {
    if (comm::IsReadable(at->link.socket.get())) {
      if (absl::Status status = Admit(*at); !status.ok()) return status;
    }
    const bool is_done = !at->link.socket.valid() || SteadyNow() > at->end;
    at = is_done ? arriving_.erase(at) : std::next(at);
  }
  return absl::OkStatus();
}

// Takes the link of one that has said who it is, or closes it.
absl::Status HostLeader::Admit(Arriving& arriving) {
  const absl::StatusOr<comm::Frame> frame = comm::ReadFrame(arriving.link, SteadyNow() + kSlice);
  if (absl::IsDeadlineExceeded(frame.status())) return absl::OkStatus();
  if (!frame.ok()) {
    arriving.link.socket = comm::UniqueFd();
    return absl::OkStatus();
  }
  if (const std::optional<comm::AbortMessage> abort = comm::DecodeAbort(frame->payload);
      frame->kind == static_cast<uint32_t>(ControlKind::kAbort) && abort) {
    const bool is_report = arriving.hello.purpose == static_cast<uint32_t>(comm::LinkPurpose::kReport);
    const std::string who = absl::StrCat(is_report ? "rank " : "host ", arriving.link.rank);
    return absl::Status(abort->cause.code(), absl::StrCat(who, ": ", abort->cause.message()));
  }
  std::optional<HostClaim> claim = DecodeClaim(frame->payload);
  if (!claim || arriving.hello.VersionText() != comm::BuildVersion()) {
    return Refuse(arriving,
                  "the launcher runs another version of sgdrun; expected one version; install the same on all hosts");
  }
  if (arriving.hello.nodes != options_.nodes || arriving.hello.size != options_.nodes + options_.spares) {
    return Refuse(arriving, absl::StrCat("the launcher was started with --nnodes ", arriving.hello.nodes, " and ",
                                         arriving.hello.size - arriving.hello.nodes, " spares, this one with --nnodes ",
                                         options_.nodes, " and ", options_.spares,
                                         "; expected the same; start all hosts with the same flags"));
  }
  const auto is_same = [&](const HostLink& link) { return link.claim.node == claim->node; };
  const auto before = std::ranges::find_if(joined_, is_same);
  const HostClaim* other = claim->node == own_.node ? &own_ : before != joined_.end() ? &before->claim : nullptr;
  if (other != nullptr && (other == &own_ || other->generation >= claim->generation)) {
    return Refuse(arriving,
                  absl::StrCat("host ", claim->node,
                               " has another launcher already, which goes on; expected one for each host; correct "
                               "--node-rank, or end this one"));
  }
  if (other != nullptr) joined_.erase(before);
  std::string place = PlaceOf(arriving.link.address, options_.places[0].port);
  joined_.push_back({*std::move(claim), std::move(place), std::move(arriving.link)});
  last_arrival_ = SteadyNow();
  return absl::OkStatus();
}

absl::Status HostLeader::Refuse(Arriving& arriving, const std::string& why) {
  const absl::Status cause = absl::FailedPreconditionError(absl::StrCat("at ", arriving.link.address, ": ", why));
  comm::SendFrame(arriving.link, ControlKind::kAbort, comm::EncodeAbort(own_.node, cause));
  arriving.link.socket = comm::UniqueFd();
  // A run that has begun does not end by what it does not need.
  if (own_.generation == 0) return cause;
  if (options_.note) options_.note(absl::StrCat("turned away a launcher ", cause.message()));
  return absl::OkStatus();
}

// Those that have joined say nothing more, unless they cannot go on; an end of the connection is that of a launcher.
absl::Status HostLeader::CheckJoined() {
  for (HostLink& member : joined_) {
    if (!comm::IsReadable(member.link.socket.get())) continue;
    const absl::StatusOr<comm::Frame> frame = comm::ReadFrame(member.link, SteadyNow() + kSlice);
    if (absl::IsDeadlineExceeded(frame.status())) continue;
    const std::optional<comm::AbortMessage> abort = frame.ok() ? comm::DecodeAbort(frame->payload) : std::nullopt;
    if (abort && member.claim.node < options_.nodes)
      return absl::Status(abort->cause.code(), absl::StrCat("host ", member.claim.node, ": ", abort->cause.message()));
    member.link.socket = comm::UniqueFd();
  }
  std::erase_if(joined_, [](const HostLink& member) { return !member.link.socket.valid(); });
  return absl::OkStatus();
}

HostRoster HostLeader::Agree(const std::vector<size_t>& assigned) {
  std::vector<HostMember> members = {{own_, place_}};
  for (const HostLink& link : joined_) members.push_back({link.claim, link.place});
  HostRoster roster;
  roster.places = places_;
  roster.launchers = static_cast<uint32_t>(members.size());
  roster.waited_ms = static_cast<uint64_t>(absl::ToInt64Milliseconds(SteadyNow() - begin_));
  for (const HostMember& member : members) roster.generation = std::max(roster.generation, member.claim.generation + 1);
  for (size_t member : assigned) roster.nodes.push_back(members[member]);
  std::vector<std::string> found;
  for (const HostMember& member : roster.nodes) found.push_back(member.place);
  for (const HostMember& member : members) found.push_back(member.place);
  for (const std::string& place : found) {
    if (std::ranges::find(roster.places, place) == roster.places.end()) roster.places.push_back(place);
  }
  const std::vector<uint32_t> numbers = Numbers(members, assigned, options_.nodes);
  for (size_t i = 0; i < members.size(); ++i) {
    if (numbers[i] < options_.nodes) continue;
    if (!members[i].claim.gives_way) ++roster.spares;
    // Nobody leads at a place that has only a spare now.
    const auto place = std::ranges::find(roster.places, members[i].place);
    const bool has_node = std::ranges::find(roster.nodes, *place, &HostMember::place) != roster.nodes.end();
    if (members[i].claim.gives_way && !has_node) std::rotate(place, place + 1, roster.places.end());
  }
  std::vector<HostLink> spares;
  for (size_t i = 0; i < joined_.size(); ++i) {
    roster.node = numbers[i + 1];
    comm::SendFrame(joined_[i].link, ControlKind::kReady, EncodeRoster(roster));
    if (roster.node < options_.nodes) continue;
    joined_[i].claim.node = roster.node;
    joined_[i].claim.generation = roster.generation;
    joined_[i].claim.launchers = roster.launchers;
    spares.push_back(std::move(joined_[i]));
  }
  joined_ = std::move(spares);
  roster.node = numbers[0];
  return roster;
}

absl::Status HostLeader::Missing() const {
  std::vector<uint32_t> missing;
  for (uint32_t node = 0; node < options_.nodes + (own_.generation == 0 ? options_.spares : 0); ++node) {
    const auto is_it = [&](const HostLink& link) { return link.claim.node == node; };
    if (node != own_.node && std::ranges::none_of(joined_, is_it)) missing.push_back(node);
  }
  return absl::DeadlineExceededError(
      absl::StrCat("the launcher of host ", absl::StrJoin(missing, ", "), " did not come to ", place_, " within ",
                   absl::FormatDuration(options_.timeout), "; expected one for each of ", options_.nodes,
                   " hosts; start it with that --node-rank, start spares (--spares), or raise --deadline"));
}

void HostLeader::Tell(const absl::Status& failure, comm::TcpAcceptor& acceptor) {
  const absl::Time end = SteadyNow() + kLinger;
  while (SteadyNow() < end && joined_.size() + 1 < options_.nodes) {
    absl::StatusOr<std::vector<comm::TcpConnection>> proven = acceptor.Accept(kSlice);
    if (!proven.ok()) break;
    for (comm::TcpConnection& connection : *proven)
      joined_.push_back({{}, "", comm::MakeLink(std::move(connection), 0, /*is_listener=*/true)});
  }
  for (HostLink& member : joined_)
    comm::SendFrame(member.link, ControlKind::kAbort, comm::EncodeAbort(own_.node, failure));
}

}  // namespace sgd::launch
