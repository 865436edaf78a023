// Connections whose ends have proven to each other that they belong to one job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/tcp/handshake.h"
#include "runtime/comm/tcp/socket_address.h"

namespace sgd::comm {

struct TcpConnection {
  UniqueFd socket;  // does not block
  Hello hello;      // of the end that has connected
  SessionKeys keys;
  SocketAddress peer;
};

// Accepts connections from anybody and hands out those that prove themselves. Others cost at most a descriptor for five
// seconds, 256 of them at a time, and never hold up the rest.
class TcpAcceptor {
 public:
  // Listens. `secret` may be empty on loopback addresses only. AlreadyExists when the port is in use, NotFound when the
  // address is not this host's.
  // `note` is called with one line on each process that connects and is refused: once for each host and reason, of the
  // first few. May be empty.
  static absl::StatusOr<TcpAcceptor> Listen(const SocketAddress& address, std::string secret,
                                            std::function<void(const std::string& note)> note = nullptr);

  // Listens at another address of this host too. Errors as of Listen.
  absl::Status AlsoListen(const SocketAddress& address);

  uint16_t port() const { return port_; }
  // Waits at most so long for something to happen, here or on sockets of the caller's; returns the connections that
  // have proven themselves by then.
  absl::StatusOr<std::vector<TcpConnection>> Accept(absl::Duration patience, const std::vector<int>& sockets = {});
  // The peers that were refused for another secret so far, for messages; empty if there are none.
  const std::string& refusals() const { return refusals_; }

 private:
  struct Pending {
    UniqueFd socket;
    SocketAddress peer;
    absl::Time end;
    Greeting greeting;
    size_t received = 0;  // bytes of `hello`
    Hello hello;
  };

  TcpAcceptor() = default;
  absl::Status AcceptNew(int listener);
  // Whether the connection has come to an end of its handshake, good or bad.
  bool Advance(Pending& pending, std::vector<TcpConnection>& proven);
  void Refuse(const Pending& pending);
  void Note(const Pending& pending, const std::string& what);

  std::vector<UniqueFd> listeners_;
  std::string secret_;
  uint16_t port_ = 0;
  std::list<Pending> pending_;  // oldest first
  std::string refusals_;
  std::function<void(const std::string& note)> note_;
  std::set<std::string> noted_;  // hosts with reasons
};

struct ConnectOptions {
  // Asked between attempts, may be empty: its error ends them within half a second.
  std::function<absl::Status()> own_failure = nullptr;
  // Called once with a line, may be empty, when the place's name has not been resolved for so long.
  std::function<void(const std::string& note)> note = nullptr;
  absl::Duration note_after = absl::Seconds(5);
};

// Connects to an acceptor at any address that the place's name stands for, trying all at once, and again until `end`
// while the name is not known or nobody is there. `claim` says rank, size, purpose, nodes and version.
// PermissionDenied when the secrets differ, FailedPrecondition when one is needed and empty or when something else
// listens there, DeadlineExceeded.
absl::StatusOr<TcpConnection> ConnectOverTcp(const HostAndPort& place, const std::string& secret, const Hello& claim,
                                             absl::Time end, const ConnectOptions& options = {});

// The requirement of off-loopback addresses: FailedPrecondition with an empty secret.
absl::Status CheckSecret(const SocketAddress& address, const std::string& secret);

}  // namespace sgd::comm
