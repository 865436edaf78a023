// getaddrinfo and inet_ntop behind plain data.
#include "runtime/comm/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

const sockaddr_in& V4(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in&>(address.storage); }
const sockaddr_in6& V6(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in6&>(address.storage); }

}  // namespace

std::string HostAndPort::Text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<HostAndPort> ParseHostAndPort(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no address; expected HOST:PORT, or [ADDRESS]:PORT for an IPv6 number"));
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return wrong;
  HostAndPort place;
  place.host = text.substr(0, colon);
  uint32_t port = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port == 0 || port > 65535) return wrong;
  place.port = static_cast<uint16_t>(port);
  const bool has_brackets = place.host.size() > 2 && place.host.front() == '[' && place.host.back() == ']';
  if (has_brackets) place.host = place.host.substr(1, place.host.size() - 2);
  if (!has_brackets && place.host.find_first_of(":[]") != std::string::npos) return wrong;
  return place;
}

bool SocketAddress::IsLoopback() const {
  if (family() == AF_INET) return ntohl(V4(*this).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  if (family() != AF_INET6) return false;
  const in6_addr& address = V6(*this).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == IN_LOOPBACKNET);
}

std::string SocketAddress::Text() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &V4(*this).sin_addr, text, sizeof(text));
    return HostAndPort{text, ntohs(V4(*this).sin_port)}.Text();
  }
  if (family() != AF_INET6) return "unknown address";
  inet_ntop(AF_INET6, &V6(*this).sin6_addr, text, sizeof(text));
  return HostAndPort{text, ntohs(V6(*this).sin6_port)}.Text();
}

absl::StatusOr<std::vector<SocketAddress>> Resolve(const HostAndPort& place) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(place.host.c_str(), absl::StrCat(place.port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot resolve '", place.host, "': ", gai_strerror(error),
                                               "; expected a host that DNS or /etc/hosts knows; correct its name"));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.length = at->ai_addrlen;
  }
  if (addresses.empty())
    return absl::UnavailableError(
        absl::StrCat("'", place.host, "' has no IP address; expected one; give the address as a number"));
  return addresses;
}

SocketAddress AnyAddress(int family, uint16_t port) {
  SocketAddress address;
  address.storage.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = htons(port);
    address.length = sizeof(sockaddr_in6);
  } else {
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = htons(port);
    address.length = sizeof(sockaddr_in);
  }
  return address;
}

SocketAddress PeerOf(int socket) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) return {};
  return address;
}

bool IsConnectedToItself(int socket) {
  SocketAddress own;
  own.length = sizeof(own.storage);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) return false;
  return own.Text() == PeerOf(socket).Text();
}

}  // namespace sgd::comm
