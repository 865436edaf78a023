// The acceptor polls all connections that are still in their handshake; the connector does one step after the other.
#include "runtime/comm/tcp/tcp_connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/tcp/tcp_socket.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);  // for the other end of a handshake
constexpr absl::Duration kRetry = absl::Milliseconds(20);
constexpr absl::Duration kNextAddress = absl::Milliseconds(250);   // of a name, while one before does not answer
constexpr absl::Duration kAttempt = absl::Seconds(2);              // before the name is resolved again
constexpr absl::Duration kLastAttempts = absl::Milliseconds(500);  // of a rank that has failed, to tell rank 0
constexpr size_t kMaxPending = 256;
constexpr size_t kMaxNotes = 8;

template <typename Message>
std::span<std::byte> BytesOf(Message& message) {
  return std::as_writable_bytes(std::span(&message, 1));
}

std::string Seconds(absl::Duration duration) {
  return absl::FormatDuration(absl::Seconds(std::max<int64_t>(0, absl::ToInt64Seconds(duration))));
}

absl::Status Errno(const char* call) { return absl::InternalError(absl::StrCat(call, ": ", std::strerror(errno))); }

// A few bytes into a socket that has just been connected: they fit, or the other end is none of ours.
template <typename Message>
bool SendAtOnce(int socket, const Message& message) {
  return send(socket, &message, sizeof(message), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(message));
}

// One connect that may be in flight.
struct Attempt {
  SocketAddress address = {};
  UniqueFd socket = {};
  absl::Status status = {};  // of one that has ended
  bool is_connected = false;
};

Attempt BeginConnecting(const SocketAddress& address) {
  Attempt attempt{.address = address};
  attempt.socket = UniqueFd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!attempt.socket.valid()) {
    attempt.status = Errno("socket");
  } else if (attempt.status = PrepareSocket(attempt.socket.get()); attempt.status.ok()) {
    attempt.is_connected = connect(attempt.socket.get(), address.get(), address.length) == 0;
    if (!attempt.is_connected && errno != EINPROGRESS)
      attempt.status = absl::UnavailableError(absl::StrCat(address.Text(), ": ", std::strerror(errno)));
  }
  if (!attempt.status.ok()) attempt.socket = UniqueFd();
  return attempt;
}

void FinishConnecting(Attempt& attempt) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  // Connected to itself it would hold the port that rank 0 is about to listen at.
  if (error == 0 && IsConnectedToItself(attempt.socket.get())) error = ECONNREFUSED;
  attempt.is_connected = error == 0;
  if (error == 0) return;
  attempt.status = absl::UnavailableError(absl::StrCat(attempt.address.Text(), ": ", std::strerror(error)));
  attempt.socket = UniqueFd();
}

// Connects to several addresses, the next one whenever the one before has failed or not answered for a while
// (RFC 8305), so that most often one connection is made.
class Attempts {
 public:
  explicit Attempts(const std::vector<SocketAddress>& addresses) : addresses_(addresses) {}

  // Waits until one of the connects succeeds, and takes it out; nothing when all have failed or at `end`.
  std::optional<Attempt> NextConnected(absl::Time end) {
    absl::Time next = SteadyNow();
    while (true) {
      if (HaveFailed()) next = SteadyNow();
      if (begun_.size() < addresses_.size() && SteadyNow() >= next) {
        begun_.push_back(BeginConnecting(addresses_[begun_.size()]));
        next = SteadyNow() + kNextAddress;
      }
      std::vector<pollfd> descriptors;
      for (Attempt& attempt : begun_) {
        if (attempt.is_connected && attempt.socket.valid()) {
          FinishConnecting(attempt);
          if (attempt.is_connected) return std::exchange(attempt, Attempt{.address = attempt.address});
        }
        descriptors.push_back({attempt.socket.get(), POLLOUT, 0});
      }
      const bool is_last = begun_.size() == addresses_.size();
      if ((HaveFailed() && is_last) || SteadyNow() > end) return std::nullopt;
      if (HaveFailed()) continue;
      const int64_t left = absl::ToInt64Milliseconds(std::min(end, is_last ? end : next) - SteadyNow());
      poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<int64_t>(left, 0)) + 1);
      for (size_t i = 0; i < begun_.size(); ++i) begun_[i].is_connected = descriptors[i].revents != 0;
    }
  }

  // Why there is no other connection.
  void AppendProblems(std::vector<std::string>& problems) const {
    for (const Attempt& attempt : begun_) {
      if (attempt.socket.valid()) problems.push_back(absl::StrCat(attempt.address.Text(), ": no answer"));
      if (!attempt.status.ok()) problems.emplace_back(attempt.status.message());
    }
  }

 private:
  bool HaveFailed() const {
    return std::ranges::none_of(begun_, [](const Attempt& attempt) { return attempt.socket.valid(); });
  }

  const std::vector<SocketAddress>& addresses_;
  std::vector<Attempt> begun_;
};

// Unavailable while another attempt may succeed.
absl::StatusOr<TcpConnection> Introduce(UniqueFd socket, const SocketAddress& address, const std::string& secret,
                                        const Hello& claim) {
  const absl::Time end = SteadyNow() + kPatience;
  Greeting greeting;
  if (absl::Status status = ReadAll(socket.get(), BytesOf(greeting), end); !status.ok()) {
    return absl::UnavailableError(absl::StrCat("no greeting: ", status.message()));
  }
  if (IsOtherGreeting(greeting)) {
    return absl::PermissionDeniedError(absl::StrCat("the rank at ", address.Text(),
                                                    " runs another version of sgdrun than ", claim.VersionText(),
                                                    "; expected one version; install the same on all hosts"));
  }
  if (!IsGreeting(greeting)) {
    return absl::FailedPreconditionError(absl::StrCat("what listens at ", address.Text(),
                                                      " is no rank of this job; expected rank 0; choose another port"));
  }
  Hello hello = claim;
  if (absl::Status status = Sign(secret, greeting, hello); !status.ok()) return status;
  Welcome welcome;
  absl::Status status = WriteAll(socket.get(), BytesOf(hello), end);
  if (status.ok()) status = ReadAll(socket.get(), BytesOf(welcome), end);
  if (!status.ok()) return absl::UnavailableError(absl::StrCat("no welcome: ", status.message()));
  if (IsWelcome(welcome) && welcome.is_refused != 0) {
    return absl::PermissionDeniedError(absl::StrCat("the rank at ", address.Text(),
                                                    " refuses this one: it was started with another secret (SGD_SECRET "
                                                    "or --secret-file); expected one secret; give all ranks the same"));
  }
  if (!IsWelcome(welcome) || !IsProven(secret, greeting, hello, welcome)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "what listens at ", address.Text(),
        " does not have the secret of this job; expected a rank of it; choose another port, or give all ranks "
        "the same SGD_SECRET or --secret-file"));
  }
  absl::StatusOr<SessionKeys> keys = DeriveKeys(secret, greeting, hello);
  if (!keys.ok()) return keys.status();
  return TcpConnection{std::move(socket), hello, *std::move(keys), address};
}

}  // namespace

absl::Status CheckSecret(const SocketAddress& address, const std::string& secret) {
  if (!secret.empty() || address.IsLoopback()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("ranks that meet at ", address.Text(),
                                                    ", which other hosts can reach, have no secret; expected one; give "
                                                    "all ranks the same SGD_SECRET or --secret-file"));
}

absl::StatusOr<TcpAcceptor> TcpAcceptor::Listen(const SocketAddress& address, std::string secret,
                                                std::function<void(const std::string& note)> note) {
  TcpAcceptor acceptor;
  acceptor.secret_ = std::move(secret);
  acceptor.note_ = std::move(note);
  if (absl::Status status = acceptor.AlsoListen(address); !status.ok()) return status;
  const SocketAddress bound = OwnEndOf(acceptor.listeners_[0].get());
  if (bound.family() == AF_UNSPEC) return Errno("getsockname");
  const bool is_v6 = bound.family() == AF_INET6;
  acceptor.port_ = ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6&>(bound.storage).sin6_port
                               : reinterpret_cast<const sockaddr_in&>(bound.storage).sin_port);
  return acceptor;
}

absl::Status TcpAcceptor::AlsoListen(const SocketAddress& address) {
  if (absl::Status status = CheckSecret(address, secret_); !status.ok()) return status;
  UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int listener = socket.get();
  if (listener < 0) return Errno("socket");
  // Connections of an earlier job may linger; dual-stack where "any" is meant.
  const int on = 1, off = 0;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.family() == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(listener, address.get(), address.length) != 0 || listen(listener, 1024) != 0) {
    if (errno == EADDRINUSE) {
      return absl::AlreadyExistsError(absl::StrCat(
          "port ", address.Text(), " is in use by another program; expected a free port; choose another one"));
    }
    if (errno == EADDRNOTAVAIL)
      return absl::NotFoundError(absl::StrCat(
          address.Text(),
          " is not this host; expected an address of the host of rank 0; start rank 0 there, or give this host's"));
    return Errno("bind");
  }
  listeners_.push_back(std::move(socket));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TcpConnection>> TcpAcceptor::Accept(absl::Duration patience,
                                                               const std::vector<int>& sockets) {
  std::vector<pollfd> descriptors;
  for (const UniqueFd& listener : listeners_) descriptors.push_back({listener.get(), POLLIN, 0});
  for (int socket : sockets) descriptors.push_back({socket, POLLIN, 0});
  for (const Pending& pending : pending_) descriptors.push_back({pending.socket.get(), POLLIN, 0});
  poll(descriptors.data(), descriptors.size(), static_cast<int>(absl::ToInt64Milliseconds(patience)));
  std::vector<TcpConnection> proven;
  for (auto at = pending_.begin(); at != pending_.end();) {
    bool has_ended = Advance(*at, proven);
    if (!has_ended && SteadyNow() > at->end) {
      has_ended = true;
      Note(*at, absl::StrCat("that did not say within ", absl::FormatDuration(kPatience), " who it is"));
    }
    at = has_ended ? pending_.erase(at) : std::next(at);
  }
  for (size_t i = 0; i < listeners_.size(); ++i) {
    if (descriptors[i].revents == 0) continue;
    if (absl::Status status = AcceptNew(listeners_[i].get()); !status.ok()) return status;
  }
  return proven;
}

absl::Status TcpAcceptor::AcceptNew(int listener) {
  while (true) {
    UniqueFd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      // Without descriptors or memory the connection waits; all else is of connections that have gone again.
      return errno == EBADF || errno == EINVAL || errno == ENOTSOCK ? Errno("accept") : absl::OkStatus();
    }
    absl::StatusOr<Greeting> greeting = MakeGreeting();
    if (!greeting.ok()) return greeting.status();
    const SocketAddress peer = PeerOf(socket.get());
    if (!PrepareSocket(socket.get()).ok() || !SendAtOnce(socket.get(), *greeting)) continue;
    if (pending_.size() == kMaxPending) {
      Note(pending_.front(), "that said nothing while many others came");
      pending_.pop_front();
    }
    pending_.push_back({std::move(socket), peer, SteadyNow() + kPatience, *greeting, 0, {}});
  }
}

bool TcpAcceptor::Advance(Pending& pending, std::vector<TcpConnection>& proven) {
  const std::span<std::byte> left = BytesOf(pending.hello).subspan(pending.received);
  const ssize_t count = recv(pending.socket.get(), left.data(), left.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  if (count <= 0) {
    Note(pending, "that went away before it had said who it is");
    return true;
  }
  pending.received += static_cast<size_t>(count);
  const Hello& hello = pending.hello;
  if (pending.received >= sizeof(hello.magic) && !IsHello(hello)) {
    Note(pending, IsOtherHello(hello) ? "that runs another version of sgdrun" : "that did not speak as a rank does");
    return true;
  }
  if (pending.received < sizeof(hello)) return false;
  if (!IsProven(secret_, pending.greeting, hello)) {
    Refuse(pending);
    return true;
  }
  const absl::StatusOr<Welcome> welcome = MakeWelcome(secret_, pending.greeting, hello);
  absl::StatusOr<SessionKeys> keys = DeriveKeys(secret_, pending.greeting, hello);
  if (!welcome.ok() || !keys.ok() || !SendAtOnce(pending.socket.get(), *welcome)) return true;
  proven.push_back({std::move(pending.socket), hello, *std::move(keys), pending.peer});
  return true;
}

void TcpAcceptor::Refuse(const Pending& pending) {
  SendAtOnce(pending.socket.get(), MakeRefusal());
  const std::string text =
      absl::StrCat("a process at ", pending.peer.Text(), " was refused: it was started with another secret");
  if (refusals_.empty()) refusals_ = text;  // the first says enough
  Note(pending, "that was started with another secret");
}

void TcpAcceptor::Note(const Pending& pending, const std::string& what) {
  if (!note_ || noted_.size() == kMaxNotes) return;
  const std::string address = pending.peer.Text();
  if (!noted_.insert(absl::StrCat(address.substr(0, address.rfind(':')), " ", what)).second) return;
  note_(absl::StrCat("port ", port_, ": turned away a connection from ", address, " ", what));
}

namespace {

// Of all addresses the one that answers first: some may lead nowhere, or to another program on this host.
absl::StatusOr<TcpConnection> ConnectToAny(const std::vector<SocketAddress>& addresses, const std::string& secret,
                                           const Hello& claim, absl::Time end) {
  for (const SocketAddress& address : addresses) {
    if (absl::Status status = CheckSecret(address, secret); !status.ok()) return status;
  }
  Attempts attempts(addresses);
  absl::Status other_program;
  size_t others = 0;
  std::vector<std::string> problems;
  while (std::optional<Attempt> connected = attempts.NextConnected(end)) {
    absl::StatusOr<TcpConnection> connection =
        Introduce(std::move(connected->socket), connected->address, secret, claim);
    if (connection.ok() || connection.status().code() == absl::StatusCode::kPermissionDenied) return connection;
    if (connection.status().code() == absl::StatusCode::kUnavailable) {
      problems.push_back(absl::StrCat(connected->address.Text(), ": ", connection.status().message()));
      continue;
    }
    other_program = connection.status();
    if (++others == addresses.size()) return other_program;
  }
  attempts.AppendProblems(problems);
  if (!other_program.ok()) problems.emplace_back(other_program.message());
  return absl::UnavailableError(absl::StrJoin(problems, "; "));
}

}  // namespace

absl::StatusOr<TcpConnection> ConnectOverTcp(const HostAndPort& place, const std::string& secret, const Hello& claim,
                                             absl::Time end, const ConnectOptions& options) {
  absl::Time note_at = options.note ? SteadyNow() + options.note_after : absl::InfiniteFuture();
  while (true) {
    const absl::Status failure = options.own_failure ? options.own_failure() : absl::OkStatus();
    if (!failure.ok()) end = std::min(end, SteadyNow() + kLastAttempts);
    const absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(place);
    absl::Status problem = addresses.status();
    if (addresses.ok()) {
      absl::StatusOr<TcpConnection> connection =
          ConnectToAny(*addresses, secret, claim, std::min(end, SteadyNow() + kAttempt));
      if (connection.ok() || connection.status().code() != absl::StatusCode::kUnavailable) return connection;
      problem = connection.status();
    } else if (SteadyNow() >= note_at) {
      note_at = absl::InfiniteFuture();
      options.note(absl::StrCat(problem.message(), "; trying again for ", Seconds(end - SteadyNow())));
    }
    if (SteadyNow() >= end && !failure.ok()) return failure;
    if (SteadyNow() >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat("nobody answered at ", place.Text(), ": ", problem.message(),
                       "; expected rank 0 there; start it, let this host reach it, or raise --deadline"));
    }
    absl::SleepFor(kRetry);
  }
}

}  // namespace sgd::comm
