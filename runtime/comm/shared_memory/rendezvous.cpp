// Rank 0 polls everybody who has connected; the others do one step after the other. A rank says who it is, rank 0
// answers all with the segment's descriptor or with the error of the job.
#include "runtime/comm/shared_memory/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/rank_text.h"
#include "runtime/comm/shared_memory/job_cause.h"
#include "runtime/comm/shared_memory/rendezvous_socket.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kRetry = absl::Milliseconds(5);
constexpr absl::Duration kSlice = absl::Milliseconds(20);    // between looks at this rank's own failure
constexpr absl::Duration kLinger = absl::Milliseconds(500);  // for ranks that are about to come, after an error
constexpr absl::Duration kPatience = absl::Seconds(2);       // for what a new connection says
constexpr size_t kMaxUnknown = 64;                           // connections that have not said who they are
constexpr int kMaxNotes = 8;

absl::Status RendezvousError(const char* call) {
  return absl::InternalError(absl::StrCat("rendezvous: ", call, ": ", std::strerror(errno)));
}

absl::Status OwnFailure(const RendezvousOptions& options) {
  return options.own_failure ? options.own_failure() : absl::OkStatus();
}

// Waits for something to read, at most a slice and at most until `end`.
void WaitForSlice(std::vector<pollfd>& descriptors, absl::Time end) {
  const absl::Duration left = std::clamp(end - SteadyNow(), absl::ZeroDuration(), kSlice);
  poll(descriptors.data(), descriptors.size(), static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
}

// Rank 0's side: collects the others, then answers all of them.
class Host {
 public:
  explicit Host(const RendezvousOptions& options) : options_(options), end_(SteadyNow() + options.timeout) {}

  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Run() {
    absl::StatusOr<std::shared_ptr<SharedMemorySegment>> segment = Collect();
    if (!segment.ok()) Linger();
    for (const Connection& rank : joined_) {
      Send(rank.socket.get(), segment.status(), segment.ok() ? (*segment)->fd() : -1);
    }
    return segment;
  }

 private:
  struct Connection {
    UniqueFd socket;
    pid_t pid = 0;
    absl::Time end;     // for who has not said who it is
    uint32_t rank = 0;  // of one that has joined
  };

  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Collect() {
    if (absl::Status status = Listen(); !status.ok()) return status;
    while (joined_.size() + 1 < options_.size) {
      if (absl::Status status = Failure(); !status.ok()) return status;
      if (SteadyNow() > end_) return Missing();
      if (absl::Status status = Serve(end_); !status.ok()) return status;
    }
    auto segment = SharedMemorySegment::Create(options_.size, options_.window_bytes);
    if (!segment.ok()) return segment.status();
    (*segment)->flag(0).pid.store(getpid());
    for (const Connection& rank : joined_) (*segment)->flag(rank.rank).pid.store(rank.pid);
    return segment;
  }

  // This rank's own, as the others are told of it.
  absl::Status Failure() const {
    const absl::Status failure = OwnFailure(options_);
    return failure.ok() ? failure : absl::Status(failure.code(), absl::StrCat("rank 0: ", failure.message()));
  }

  // The name may be held a moment longer by the last run's rank 0, hence the retries.
  absl::Status Listen() {
    listener_ = NewRendezvousSocket();
    if (!listener_.valid()) return RendezvousError("socket");
    sockaddr_un address;
    const socklen_t length = MakeRendezvousAddress(options_.name, &address);
    while (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      if (errno != EADDRINUSE) return RendezvousError("bind");
      if (absl::Status status = Failure(); !status.ok()) return status;
      if (SteadyNow() >= end_) {
        return absl::AlreadyExistsError(absl::StrCat(
            "another job uses the rendezvous '", options_.name,
            "', or rank 0 was started twice; expected a name of this job's own; give each job another SGD_RENDEZVOUS"));
      }
      absl::SleepFor(kRetry);
    }
    return listen(listener_.get(), 1024) == 0 ? absl::OkStatus() : RendezvousError("listen");
  }

  // One look at everybody.
  absl::Status Serve(absl::Time end) {
    std::vector<pollfd> descriptors = {{listener_.get(), POLLIN, 0}};
    for (const Connection& rank : joined_) descriptors.push_back({rank.socket.get(), POLLIN, 0});
    for (const Connection& unknown : unknown_) descriptors.push_back({unknown.socket.get(), POLLIN, 0});
    WaitForSlice(descriptors, end);
    for (const Connection& rank : joined_) {
      if (absl::Status status = EndOf(rank); !status.ok()) return status;
    }
    return HearUnknown();
  }

  absl::Status HearUnknown() {
    for (auto at = unknown_.begin(); at != unknown_.end();) {
      absl::StatusOr<bool> is_settled = Hear(*at);
      const bool goes = !is_settled.ok() || *is_settled;
      at = goes ? unknown_.erase(at) : std::next(at);
      if (!is_settled.ok()) return is_settled.status();
    }
    Accept();
    return absl::OkStatus();
  }

  // A rank says nothing before the answer, unless it fails.
  absl::Status EndOf(const Connection& rank) const {
    RendezvousOutcome outcome;
    const Received received = Receive(rank.socket.get(), outcome);
    if (received == Received::kNothingYet) return absl::OkStatus();
    if (received == Received::kMessage && outcome.code != 0) {
      const absl::Status cause = StatusOf(outcome);
      return absl::Status(cause.code(), absl::StrCat("rank ", rank.rank, ": ", cause.message()));
    }
    return absl::UnavailableError(
        absl::StrCat("rank ", rank.rank, " (process ", rank.pid,
                     ") has ended during start-up; expected all ranks to join; see its own output"));
  }

  void Accept() {
    while (true) {
      Connection unknown{UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)), 0,
                         SteadyNow() + kPatience};
      if (!unknown.socket.valid()) return;  // there is none, or no descriptor for it: it waits
      const absl::StatusOr<ucred> peer = PeerOfRendezvous(unknown.socket.get());
      if (!peer.ok()) continue;
      unknown.pid = peer->pid;
      if (peer->uid != getuid()) {
        Note(unknown, absl::StrCat("of user ", peer->uid, ", who does not run this job"));
        continue;
      }
      if (unknown_.size() == kMaxUnknown) {
        Note(unknown_.front(), "that said nothing while many others came");
        unknown_.pop_front();
      }
      unknown_.push_back(std::move(unknown));
    }
  }

  // Whether a new connection has become a rank's or was turned away.
  absl::StatusOr<bool> Hear(Connection& unknown) {
    RendezvousHello hello;
    switch (Receive(unknown.socket.get(), hello)) {
      case Received::kNothingYet:
        if (SteadyNow() < unknown.end) return false;
        Note(unknown, absl::StrCat("that said nothing for ", absl::FormatDuration(kPatience)));
        return true;
      case Received::kOther:
        Note(unknown, "that did not speak as a rank does");
        return true;
      case Received::kEnd:
        Note(unknown, "that said nothing and went away");
        return true;
      case Received::kMessage:
        break;
    }
    unknown.rank = hello.rank;
    joined_.push_back(std::move(unknown));
    absl::Status status = Check(hello, joined_.back().pid);
    // One that fails says so right after its hello.
    if (status.ok()) status = EndOf(joined_.back());
    if (!status.ok()) return status;
    return true;
  }

  absl::Status Check(const RendezvousHello& hello, pid_t pid) const {
    const std::string who = absl::StrCat("rank ", hello.rank, " (process ", pid, ")");
    const std::string version(hello.version, strnlen(hello.version, sizeof(hello.version)));
    if (version != options_.version) {
      return absl::FailedPreconditionError(absl::StrCat(who, " runs sgdrun ", version, ", rank 0 runs sgdrun ",
                                                        options_.version,
                                                        "; expected one build; start all ranks with the same sgdrun"));
    }
    if (hello.size != options_.size) {
      return absl::FailedPreconditionError(absl::StrCat(who, " says that the job has ", hello.size,
                                                        " ranks, rank 0 says ", options_.size,
                                                        "; expected one number; start all ranks with the same -n"));
    }
    if (hello.rank == 0 || hello.rank >= options_.size ||
        std::ranges::count(joined_, hello.rank, &Connection::rank) > 1) {
      return absl::FailedPreconditionError(absl::StrCat("two processes say that they are rank ", hello.rank,
                                                        "; expected each rank once; correct the launcher's ranks"));
    }
    const std::string plan(hello.plan, strnlen(hello.plan, sizeof(hello.plan)));
    const std::string own_plan = options_.plan.substr(0, sizeof(hello.plan));
    if (plan != own_plan && !plan.empty() && !own_plan.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(who, " runs the plan '", absl::CEscape(plan),
                                                        "', rank 0 runs '", absl::CEscape(own_plan),
                                                        "'; expected one plan; start all ranks with the same --plan"));
    }
    // Before it knows its artifact a rank says none, and that it fails.
    if (hello.window_bytes != options_.window_bytes && hello.window_bytes != kUnknownWindow) {
      return absl::FailedPreconditionError(
          absl::StrCat(who, " has another artifact than rank 0: windows of ", hello.window_bytes, " and ",
                       options_.window_bytes, " bytes; expected one artifact; start all ranks with the same file"));
    }
    return absl::OkStatus();
  }

  void Note(const Connection& stranger, const std::string& what) {
    if (!options_.note || notes_ == kMaxNotes) return;
    ++notes_;
    options_.note(absl::StrCat("rendezvous '", options_.name, "': turned away process ", stranger.pid, " ", what));
  }

  // After an error, gives ranks that are about to come a moment to hear of it too.
  void Linger() {
    const absl::Time end = SteadyNow() + kLinger;
    while (listener_.valid() && joined_.size() + 1 < options_.size && SteadyNow() < end) {
      static_cast<void>(HearUnknown());
      absl::SleepFor(kRetry);
    }
  }

  absl::Status Missing() const {
    std::vector<uint32_t> missing;
    for (uint32_t rank = 1; rank < options_.size; ++rank) {
      if (std::ranges::count(joined_, rank, &Connection::rank) == 0) missing.push_back(rank);
    }
    return absl::DeadlineExceededError(absl::StrCat("rank ", absl::StrJoin(missing, ", "), " of ", options_.size,
                                                    " did not join '", options_.name, "' on this host within ",
                                                    absl::FormatDuration(options_.timeout)));
  }

  const RendezvousOptions& options_;
  const absl::Time end_;
  UniqueFd listener_;
  std::list<Connection> unknown_;  // oldest first
  std::vector<Connection> joined_;
  int notes_ = 0;
};

// Any other rank's side.
class Guest {
 public:
  explicit Guest(const RendezvousOptions& options) : options_(options), end_(SteadyNow() + options.timeout) {}

  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Run() {
    if (absl::Status status = Connect(); !status.ok()) return status;
    absl::StatusOr<ucred> host = PeerOfRendezvous(socket_.get());
    if (!host.ok()) return host.status();
    if (host->uid != getuid()) {
      return absl::PermissionDeniedError(
          "rendezvous: another user's process uses this job's name; expected a name of one's own; give another "
          "SGD_RENDEZVOUS");
    }
    RendezvousHello hello;
    hello.rank = options_.rank;
    hello.size = options_.size;
    hello.window_bytes = options_.window_bytes;
    options_.version.copy(hello.version, sizeof(hello.version));
    options_.plan.copy(hello.plan, sizeof(hello.plan));
    Send(socket_.get(), hello);  // if rank 0 is gone, that shows below
    return WaitForOutcome(host->pid);
  }

 private:
  // With a failure of its own, a rank gives rank 0 a moment to appear and hear of it.
  absl::Status Connect() {
    sockaddr_un address;
    const socklen_t length = MakeRendezvousAddress(options_.name, &address);
    absl::Time end = end_;
    while (true) {
      socket_ = NewRendezvousSocket();
      if (!socket_.valid()) return RendezvousError("socket");
      if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return absl::OkStatus();
      if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN) return RendezvousError("connect");
      const absl::Status failure = OwnFailure(options_);
      if (!failure.ok()) end = std::min(end, SteadyNow() + kLinger);
      if (SteadyNow() >= end) {
        return !failure.ok() ? OfThisRank(failure)
                             : absl::DeadlineExceededError(absl::StrCat("rank 0 did not appear at '", options_.name,
                                                                        "' on this host within ",
                                                                        absl::FormatDuration(options_.timeout)));
      }
      absl::SleepFor(kRetry);
    }
  }

  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> WaitForOutcome(pid_t host) {
    // Rank 0 names who is missing at its own timeout, which began before this connection; its answer is given a moment
    // more.
    const absl::Time end = SteadyNow() + options_.timeout + absl::Seconds(2);
    while (true) {
      if (absl::Status failure = OwnFailure(options_); !failure.ok()) {
        return Tell(failure);
      }
      RendezvousOutcome outcome;
      UniqueFd segment;
      switch (Receive(socket_.get(), outcome, segment)) {
        case Received::kMessage:
          if (outcome.code != 0) return SaidBy(0, options_.rank, StatusOf(outcome));  // rank 0 prints what it answers
          if (!segment.valid()) return absl::InternalError("rendezvous: rank 0 sent no segment");
          return SharedMemorySegment::Attach(std::move(segment));
        case Received::kOther:
          return absl::InternalError(
              "rendezvous: rank 0 runs another version of sgdrun; expected one version; start all ranks with the same "
              "sgdrun");
        case Received::kEnd:
          return absl::UnavailableError(
              absl::StrCat("rank 0 (process ", host,
                           ") ended before all ranks had joined; expected it to wait for them; see its own output"));
        case Received::kNothingYet:
          break;
      }
      if (SteadyNow() > end) {
        return absl::DeadlineExceededError(absl::StrCat(
            "rank 0 (process ", host, ") did not say within ", absl::FormatDuration(options_.timeout),
            " whether all ranks have joined; expected its answer; see its own output, or raise --deadline"));
      }
      std::vector<pollfd> descriptors = {{socket_.get(), POLLIN, 0}};
      WaitForSlice(descriptors, end);
    }
  }

  absl::Status OfThisRank(const absl::Status& failure) const {
    return absl::Status(failure.code(), OfRank(options_.rank, std::string(failure.message())));
  }

  // Rank 0 hears of it, or has answered already that all have joined: then the others hear of it by what they share.
  // Returns the failure, unless rank 0 answers with the same one.
  absl::Status Tell(const absl::Status& failure) {
    const absl::Status own = OfThisRank(failure);
    Send(socket_.get(), failure, -1);
    const absl::Time end = SteadyNow() + kLinger;
    while (SteadyNow() < end) {
      RendezvousOutcome outcome;
      UniqueFd descriptor;
      const Received received = Receive(socket_.get(), outcome, descriptor);
      if (received == Received::kNothingYet) {
        std::vector<pollfd> descriptors = {{socket_.get(), POLLIN, 0}};
        WaitForSlice(descriptors, end);
        continue;
      }
      if (received == Received::kMessage && outcome.code != 0) {
        const absl::Status answer = StatusOf(outcome);
        return absl::StrContains(answer.message(), failure.message()) ? SaidBy(0, options_.rank, answer) : own;
      }
      if (received != Received::kMessage || !descriptor.valid()) return own;
      absl::StatusOr<std::shared_ptr<SharedMemorySegment>> segment = SharedMemorySegment::Attach(std::move(descriptor));
      if (!segment.ok()) return own;
      (*segment)->Abort(options_.rank, failure);
      return JobCauseOrOwn(**segment, options_.rank, failure);
    }
    return own;
  }

  const RendezvousOptions& options_;
  const absl::Time end_;
  UniqueFd socket_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Rendezvous(const RendezvousOptions& options) {
  if (options.rank >= options.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", options.rank, " of a job of ", options.size,
                     " ranks; expected ranks from 0 below that number; correct the launcher's ranks"));
  }
  if (options.rank == 0) return Host(options).Run();
  return Guest(options).Run();
}

}  // namespace sgd::comm
