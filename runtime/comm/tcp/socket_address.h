// Addresses of TCP ports: as users write them, and as the system resolves them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::comm {

// A place in the network as a user writes it.
struct HostAndPort {
  std::string host;  // name or number
  uint16_t port = 0;

  // "host:29500", of IPv6 numbers "[::1]:29500".
  std::string Text() const;
  // Whether the host is a number, and so needs no resolving.
  bool IsNumber() const;
  // Whether the user means this host alone: "localhost", or a number such as 127.0.0.1.
  bool IsLoopback() const;
  // Whether the host is 0.0.0.0 or ::, all addresses of a host, where one can listen but not connect.
  bool IsAny() const;
};

// Whether it can be a host: a name in DNS's characters, or an IPv4 or IPv6 number.
bool IsHost(const std::string& text);

// The reverse of Text. InvalidArgument, saying what is expected, without a host or a port from 1 to 65535.
absl::StatusOr<HostAndPort> ParseHostAndPort(const std::string& text);

// An IPv4 or IPv6 address with its port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  // Whether only processes of this host can be there.
  bool IsLoopback() const;
  std::string Text() const;
};

// All that the name stands for, in the system's order of preference. Unavailable when the name is not known (yet).
absl::StatusOr<std::vector<SocketAddress>> Resolve(const HostAndPort& place);

// The address that accepts connections to any of this host's, of a family.
SocketAddress AnyAddress(int family, uint16_t port);

// The two ends of a connected socket; family 0 when there is none.
SocketAddress PeerOf(int socket);
SocketAddress OwnEndOf(int socket);

// The network device that has this address, "eth0"; empty when none of this host's has it.
std::string DeviceOf(const SocketAddress& address);

// Whether both ends of a connection are this socket. Who looks for a listener on this host is given a port for its own
// end, and where nobody listens yet that may be the very one, which is then connected to itself (RFC 9293, 3.5).
bool IsConnectedToItself(int socket);

}  // namespace sgd::comm
