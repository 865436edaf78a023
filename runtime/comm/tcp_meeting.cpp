// Rank 0 answers all ranks at once, when the last has come or something is wrong.
#include "runtime/comm/tcp_meeting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control_message.h"
#include "runtime/comm/tcp_connection.h"
#include "runtime/comm/tcp_socket.h"

namespace sgd::comm {
namespace {

// Purposes of connections: a rank's, and those of who tells of its death.
constexpr uint32_t kControl = 1, kReport = 2;
constexpr absl::Duration kSlice = absl::Milliseconds(20);
constexpr absl::Duration kWordSlice = absl::Milliseconds(1);  // until a rank that has come says how it is
constexpr absl::Duration kLinger = absl::Milliseconds(500);

ControlLink MakeLink(TcpConnection connection, uint32_t rank, bool is_listener) {
  std::string& send = is_listener ? connection.keys.of_listener : connection.keys.of_connector;
  std::string& receive = is_listener ? connection.keys.of_connector : connection.keys.of_listener;
  return {rank, std::move(connection.socket), FrameEncoder(std::move(send)), FrameDecoder(std::move(receive)),
          connection.peer.Text()};
}

// Whether a loopback address is what the user meant, and not what this host's own name stands for in its /etc/hosts.
bool MeansLoopback(const std::string& host) {
  in_addr v4;
  in6_addr v6;
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &v4) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

// At the address that the place stands for, when that is one of this host's; else, as behind a service's address, at
// all of this host's.
absl::StatusOr<TcpAcceptor> ListenAt(const TcpMeetingOptions& options) {
  const HostAndPort& place = options.place;
  const std::string& secret = options.secret;
  absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(place);
  for (const SocketAddress& address : addresses.ok() ? *addresses : std::vector<SocketAddress>()) {
    if (address.IsLoopback() && !MeansLoopback(place.host)) continue;
    absl::StatusOr<TcpAcceptor> acceptor = TcpAcceptor::Listen(address, secret, options.note);
    if (acceptor.ok() || acceptor.status().code() != absl::StatusCode::kNotFound) return acceptor;
  }
  absl::StatusOr<TcpAcceptor> any = TcpAcceptor::Listen(AnyAddress(AF_INET6, place.port), secret, options.note);
  if (any.status().code() != absl::StatusCode::kInternal) return any;
  return TcpAcceptor::Listen(AnyAddress(AF_INET, place.port), secret, options.note);  // a host without IPv6
}

// The next frame that comes before `end`.
absl::StatusOr<Frame> ReadFrame(ControlLink& link, absl::Time end) {
  absl::Status error;
  while (true) {
    if (std::optional<Frame> frame = link.decoder.Next(error)) return *std::move(frame);
    if (!error.ok()) return error;
    std::byte byte;
    if (absl::Status status = ReadAll(link.socket.get(), {&byte, 1}, end); !status.ok()) return status;
    link.decoder.Feed({reinterpret_cast<const char*>(&byte), 1});
  }
}

// One that is gone sees the end of the connection.
void SendFrame(ControlLink& link, ControlKind kind, const std::string& payload) {
  const absl::StatusOr<std::string> wire = link.encoder.Encode(static_cast<uint32_t>(kind), 0, payload);
  if (!wire.ok()) return;  // the connection is closed with the meeting, which says as much
  static_cast<void>(
      WriteAll(link.socket.get(), std::as_bytes(std::span(*wire)), SteadyNow() + absl::Milliseconds(200)));
}

absl::Status OwnFailure(const TcpMeetingOptions& options) {
  return options.own_failure ? options.own_failure() : absl::OkStatus();
}

class Host {
 public:
  explicit Host(const TcpMeetingOptions& options) : options_(options), end_(SteadyNow() + options.timeout) {}

  absl::StatusOr<std::vector<ControlLink>> Run() {
    absl::StatusOr<TcpAcceptor> acceptor = ListenAt(options_);
    if (!acceptor.ok()) return acceptor.status();
    absl::Status status = Collect(*acceptor);
    if (!status.ok()) Linger(*acceptor);
    for (ControlLink& link : joined_) Answer(link, status);
    if (!status.ok()) return status;
    std::ranges::sort(joined_, {}, &ControlLink::rank);
    return std::move(joined_);
  }

  // After an error: whether somebody was there to hear of it.
  bool has_told() const { return !joined_.empty(); }

 private:
  absl::Status Collect(TcpAcceptor& acceptor) {
    while (able_.size() + 1 < options_.size) {
      const absl::Status failure = OwnFailure(options_);
      if (!failure.ok()) return absl::Status(failure.code(), absl::StrCat("rank 0: ", failure.message()));
      if (SteadyNow() > end_) return Missing(acceptor);
      absl::StatusOr<std::vector<TcpConnection>> proven =
          acceptor.Accept(joined_.size() + 1 < options_.size ? kSlice : kWordSlice);
      if (!proven.ok()) return proven.status();
      // All, whatever one of them says: who has come is to hear of it.
      absl::Status status;
      for (TcpConnection& connection : *proven) status.Update(Admit(std::move(connection)));
      if (status.ok()) status = HearReports();
      if (status.ok()) status = CheckJoined();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Admit(TcpConnection connection) {
    const Hello hello = connection.hello;
    if (hello.purpose == kReport) reports_.push_back(MakeLink(std::move(connection), hello.rank, /*is_listener=*/true));
    if (hello.purpose != kControl) return absl::OkStatus();
    const std::string who = absl::StrCat("rank ", hello.rank, " (at ", connection.peer.Text(), ")");
    joined_.push_back(MakeLink(std::move(connection), hello.rank, /*is_listener=*/true));
    if (hello.size != options_.size) {
      return absl::FailedPreconditionError(
          absl::StrCat(who, " says that the job has ", hello.size, " ranks, rank 0 says ", options_.size,
                       "; expected one number; start all ranks with the same world size"));
    }
    if (hello.rank >= options_.size) {
      return absl::FailedPreconditionError(absl::StrCat(who, " is none of the ", options_.size,
                                                        " ranks of this job; expected ranks from 0 below that number; "
                                                        "correct the launcher's ranks"));
    }
    if (hello.rank == 0 || std::ranges::count(joined_, hello.rank, &ControlLink::rank) > 1) {
      return absl::FailedPreconditionError(absl::StrCat("two processes say that they are rank ", hello.rank,
                                                        ", one at ", joined_.back().address,
                                                        "; expected each rank once; correct the launcher's ranks"));
    }
    return absl::OkStatus();
  }

  // Of other ranks' deaths, by their launchers: however late they say more than that they are there.
  absl::Status HearReports() {
    for (ControlLink& link : reports_) {
      if (!IsReadable(link.socket.get())) continue;
      const absl::StatusOr<Frame> frame = ReadFrame(link, SteadyNow() + kSlice);
      if (frame.status().code() == absl::StatusCode::kDeadlineExceeded) continue;
      const std::optional<AbortMessage> abort = frame.ok() ? DecodeAbort(frame->payload) : std::nullopt;
      if (abort.has_value())
        return absl::Status(abort->cause.code(), absl::StrCat("rank ", link.rank, ": ", abort->cause.message()));
      link.socket = UniqueFd();
    }
    std::erase_if(reports_, [](const ControlLink& link) { return !link.socket.valid(); });
    return absl::OkStatus();
  }

  // Each rank says once that it can join, or why it cannot; anything else that can be read is an end.
  absl::Status CheckJoined() {
    for (ControlLink& link : joined_) {
      if (!IsReadable(link.socket.get())) continue;
      const absl::StatusOr<Frame> frame = ReadFrame(link, SteadyNow() + kSlice);
      if (frame.status().code() == absl::StatusCode::kDeadlineExceeded) continue;
      if (frame.ok() && frame->kind == static_cast<uint32_t>(ControlKind::kReady) && able_.insert(link.rank).second) {
        continue;
      }
      const std::optional<AbortMessage> abort = frame.ok() ? DecodeAbort(frame->payload) : std::nullopt;
      if (abort.has_value()) {
        return absl::Status(abort->cause.code(), absl::StrCat("rank ", link.rank, ": ", abort->cause.message()));
      }
      return absl::UnavailableError(
          absl::StrCat("rank ", link.rank, " (at ", link.address,
                       ") has ended during start-up; expected all ranks to join; see its own output"));
    }
    return absl::OkStatus();
  }

  // After an error, gives ranks that are about to come a moment to hear of it too.
  void Linger(TcpAcceptor& acceptor) {
    const absl::Time end = SteadyNow() + kLinger;
    while (SteadyNow() < end && joined_.size() + 1 < options_.size) {
      absl::StatusOr<std::vector<TcpConnection>> proven = acceptor.Accept(kSlice);
      if (!proven.ok()) return;
      for (TcpConnection& connection : *proven) {
        const uint32_t rank = connection.hello.rank;
        if (connection.hello.purpose != kControl) continue;
        joined_.push_back(MakeLink(std::move(connection), rank, /*is_listener=*/true));
      }
    }
  }

  static void Answer(ControlLink& link, const absl::Status& status) {
    SendFrame(link, status.ok() ? ControlKind::kReady : ControlKind::kAbort, status.ok() ? "" : EncodeAbort(0, status));
  }

  absl::Status Missing(const TcpAcceptor& acceptor) const {
    std::vector<uint32_t> missing;
    for (uint32_t rank = 1; rank < options_.size; ++rank) {
      if (!able_.contains(rank)) missing.push_back(rank);
    }
    return absl::DeadlineExceededError(absl::StrCat("rank ", absl::StrJoin(missing, ", "), " of ", options_.size,
                                                    " did not come to ", options_.place.Text(), " within ",
                                                    absl::FormatDuration(options_.timeout),
                                                    acceptor.refusals().empty() ? "" : "; ", acceptor.refusals()));
  }

  const TcpMeetingOptions& options_;
  const absl::Time end_;
  std::vector<ControlLink> joined_;
  std::vector<ControlLink> reports_;
  std::set<uint32_t> able_;  // of these, ranks that have said that they can join
};

// How the meeting ended, as rank 0 says.
absl::StatusOr<Frame> ReadAnswer(const TcpMeetingOptions& options, ControlLink& link, absl::Time end) {
  while (true) {
    if (absl::Status failure = OwnFailure(options); !failure.ok()) {
      SendFrame(link, ControlKind::kAbort, EncodeAbort(options.rank, failure));
      return failure;
    }
    absl::StatusOr<Frame> frame = ReadFrame(link, std::min(end, SteadyNow() + kSlice));
    if (frame.status().code() == absl::StatusCode::kUnavailable) {
      return absl::UnavailableError(
          absl::StrCat("rank 0 (at ", link.address,
                       ") ended before all ranks had joined; expected it to wait for them; see its own output"));
    }
    if (frame.status().code() != absl::StatusCode::kDeadlineExceeded) return frame;
    if (SteadyNow() > end) {
      return absl::DeadlineExceededError(
          "rank 0 did not say in time whether all ranks have come; expected its answer; see its own output, or raise "
          "--deadline");
    }
  }
}

absl::StatusOr<std::vector<ControlLink>> Join(const TcpMeetingOptions& options) {
  const absl::Time end = SteadyNow() + options.timeout;
  Hello claim;
  claim.rank = options.rank;
  claim.size = options.size;
  claim.purpose = kControl;
  absl::StatusOr<TcpConnection> connection =
      ConnectOverTcp(options.place, options.secret, claim, end, options.own_failure);
  if (!connection.ok()) {
    if (absl::Status failure = OwnFailure(options); !failure.ok()) return failure;
    return absl::Status(connection.status().code(),
                        absl::StrCat("cannot meet rank 0: ", connection.status().message()));
  }
  std::vector<ControlLink> links;
  links.push_back(MakeLink(*std::move(connection), 0, /*is_listener=*/false));
  // A failure that is known already is heard by all before any of them goes on; ReadAnswer tells of it.
  if (OwnFailure(options).ok()) SendFrame(links[0], ControlKind::kReady, "");
  // Rank 0 names who is missing at its own timeout; its answer is given a moment more.
  absl::StatusOr<Frame> answer = ReadAnswer(options, links[0], end + absl::Seconds(2));
  if (!answer.ok()) return answer.status();
  if (answer->kind == static_cast<uint32_t>(ControlKind::kReady)) return links;
  const std::optional<AbortMessage> abort = DecodeAbort(answer->payload);
  return abort.has_value() ? abort->cause
                           : absl::InternalError(
                                 "rank 0 gave an answer of an unknown form; expected one version of sgdrun; start all "
                                 "ranks with the same sgdrun");
}

}  // namespace

absl::StatusOr<std::vector<ControlLink>> MeetOverTcp(const TcpMeetingOptions& options) {
  if (options.rank >= options.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", options.rank, " of a job of ", options.size,
                     " ranks; expected ranks from 0 below that number; correct the launcher's ranks"));
  }
  if (options.size == 1) return std::vector<ControlLink>();
  return options.rank == 0 ? Host(options).Run() : Join(options);
}

bool ReportDeath(const TcpMeetingOptions& options, const absl::Status& cause) {
  if (options.rank == 0) {
    TcpMeetingOptions in_its_place = options;
    in_its_place.own_failure = [&cause] { return cause; };
    Host host(in_its_place);
    static_cast<void>(host.Run());
    return host.has_told();
  }
  Hello claim;
  claim.rank = options.rank;
  claim.size = options.size;
  claim.purpose = kReport;
  absl::StatusOr<TcpConnection> connection =
      ConnectOverTcp(options.place, options.secret, claim, SteadyNow() + options.timeout, [&cause] { return cause; });
  if (!connection.ok()) return false;
  ControlLink link = MakeLink(*std::move(connection), 0, /*is_listener=*/false);
  SendFrame(link, ControlKind::kAbort, EncodeAbort(options.rank, cause));
  return true;
}

void TellAbort(std::vector<ControlLink>& links, uint32_t rank, const absl::Status& cause) {
  for (ControlLink& link : links) SendFrame(link, ControlKind::kAbort, EncodeAbort(rank, cause));
}

}  // namespace sgd::comm
