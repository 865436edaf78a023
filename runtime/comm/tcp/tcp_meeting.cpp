// Rank 0 answers all ranks at once, when the last has come or something is wrong.
#include "runtime/comm/tcp/tcp_meeting.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/tcp/tcp_connection.h"
#include "runtime/comm/tcp/tcp_socket.h"

namespace sgd::comm {
namespace {

constexpr uint32_t kControl = static_cast<uint32_t>(LinkPurpose::kRank),
                   kReport = static_cast<uint32_t>(LinkPurpose::kReport);
constexpr absl::Duration kSlice = absl::Milliseconds(20);
constexpr absl::Duration kLinger = absl::Milliseconds(500);

Hello ClaimOf(const TcpMeetingOptions& options, uint32_t purpose) {
  Hello claim;
  claim.rank = options.rank;
  claim.size = options.size;
  claim.nodes = options.nodes;
  claim.purpose = purpose;
  claim.SetVersion(options.version);
  return claim;
}

absl::Status OwnFailure(const TcpMeetingOptions& options) {
  return options.own_failure ? options.own_failure() : absl::OkStatus();
}

class Host {
 public:
  explicit Host(const TcpMeetingOptions& options) : options_(options), end_(SteadyNow() + options.timeout) {}

  absl::StatusOr<std::vector<ControlLink>> Run() {
    if (options_.acceptor != nullptr) return Meet(*options_.acceptor);
    absl::StatusOr<TcpAcceptor> acceptor = ListenAt(options_.place, options_.secret, options_.note);
    return acceptor.ok() ? Meet(*acceptor) : acceptor.status();
  }

  // After an error: whether somebody was there to hear of it.
  bool has_told() const { return !joined_.empty(); }

 private:
  absl::StatusOr<std::vector<ControlLink>> Meet(TcpAcceptor& acceptor) {
    absl::Status status = Collect(acceptor);
    if (!status.ok()) Linger(acceptor);
    for (ControlLink& link : joined_) Answer(link, status);
    if (!status.ok()) return status;
    std::ranges::sort(joined_, {}, &ControlLink::rank);
    return std::move(joined_);
  }

  absl::Status Collect(TcpAcceptor& acceptor) {
    while (able_.size() + 1 < options_.size) {
      const absl::Status failure = OwnFailure(options_);
      if (!failure.ok()) return absl::Status(failure.code(), absl::StrCat("rank 0: ", failure.message()));
      if (SteadyNow() > end_) return Missing(acceptor);
      std::vector<int> sockets;
      for (const ControlLink& link : joined_) sockets.push_back(link.socket.get());
      for (const ControlLink& link : reports_) sockets.push_back(link.socket.get());
      absl::StatusOr<std::vector<TcpConnection>> proven = acceptor.Accept(kSlice, sockets);
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
    if (hello.VersionText() != options_.version) {
      return absl::FailedPreconditionError(absl::StrCat(who, " runs sgdrun ", hello.VersionText(),
                                                        ", rank 0 runs sgdrun ", options_.version,
                                                        "; expected one build; install the same on all hosts"));
    }
    if (hello.size != options_.size) {
      return absl::FailedPreconditionError(
          absl::StrCat(who, " says that the job has ", hello.size, " ranks, rank 0 says ", options_.size,
                       "; expected one number; start all ranks with the same world size"));
    }
    if (hello.nodes != 0 && options_.nodes != 0 && hello.nodes != options_.nodes) {
      return absl::FailedPreconditionError(
          absl::StrCat(who, " was started with --nnodes ", hello.nodes, ", rank 0 with --nnodes ", options_.nodes,
                       "; expected one number; start all hosts with the same --nnodes"));
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
    std::vector<pollfd> descriptors;
    for (const ControlLink& link : joined_) descriptors.push_back({link.socket.get(), POLLIN, 0});
    poll(descriptors.data(), descriptors.size(), 0);
    for (size_t i = 0; i < joined_.size(); ++i) {
      ControlLink& link = joined_[i];
      if (descriptors[i].revents == 0) continue;
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
  absl::StatusOr<TcpConnection> connection =
      ConnectOverTcp(options.place, options.secret, ClaimOf(options, kControl), end,
                     {.own_failure = options.own_failure, .note = options.note});
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
  absl::StatusOr<TcpConnection> connection =
      ConnectOverTcp(options.place, options.secret, ClaimOf(options, kReport), SteadyNow() + options.timeout,
                     {.own_failure = [&cause] { return cause; }});
  if (!connection.ok()) return false;
  ControlLink link = MakeLink(*std::move(connection), 0, /*is_listener=*/false);
  SendFrame(link, ControlKind::kAbort, EncodeAbort(options.rank, cause));
  return true;
}

void TellAbort(std::vector<ControlLink>& links, uint32_t rank, const absl::Status& cause) {
  for (ControlLink& link : links) SendFrame(link, ControlKind::kAbort, EncodeAbort(rank, cause));
}

}  // namespace sgd::comm
