// getaddrinfo and inet_ntop behind plain data.
#include "runtime/comm/tcp/socket_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

const sockaddr_in& V4(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in&>(address.storage); }
const sockaddr_in6& V6(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in6&>(address.storage); }

bool IsV4(const std::string& text, in_addr* address) { return inet_pton(AF_INET, text.c_str(), address) == 1; }

// With the device of a link-local address, as in fe80::1%eth0.
bool IsV6(const std::string& text, in6_addr* address) {
  return inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), address) == 1;
}

// Without the port, and an IPv4 address as such where it is written as one of IPv6.
std::string NumberOf(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.family() == AF_INET) inet_ntop(AF_INET, &V4(address).sin_addr, text, sizeof(text));
  if (address.family() == AF_INET6) {
    const in6_addr& v6 = V6(address).sin6_addr;
    const bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6);
    inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? &v6.s6_addr[12] : &v6.s6_addr[0], text, sizeof(text));
  }
  return text;
}

}  // namespace

bool IsHost(const std::string& text) {
  in_addr v4;
  in6_addr v6;
  if (text.find(':') != std::string::npos) return IsV6(text, &v6);
  if (text.find_first_not_of("0123456789.") == std::string::npos) return IsV4(text, &v4);
  constexpr size_t kMostOfName = 253;
  const auto is_letter = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  return text.size() <= kMostOfName && absl::ascii_isalnum(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, is_letter) && text.find("..") == std::string::npos;
}

bool HostAndPort::IsNumber() const {
  in_addr v4;
  in6_addr v6;
  return IsV4(host, &v4) || IsV6(host, &v6);
}

bool HostAndPort::IsLoopback() const {
  if (host == "localhost") return true;
  if (!IsNumber()) return false;
  const absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(*this);
  return addresses.ok() && addresses->front().IsLoopback();
}

bool HostAndPort::IsAny() const {
  in_addr v4;
  in6_addr v6;
  if (IsV4(host, &v4)) return v4.s_addr == INADDR_ANY;
  return IsV6(host, &v6) && IN6_IS_ADDR_UNSPECIFIED(&v6);
}

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
  if (!has_brackets && place.host.find(':') != std::string::npos) return wrong;
  if (!IsHost(place.host) || (has_brackets && place.host.find(':') == std::string::npos)) return wrong;
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

SocketAddress OwnEndOf(int socket) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) return {};
  return address;
}

bool IsConnectedToItself(int socket) {
  const SocketAddress own = OwnEndOf(socket);
  return own.family() != AF_UNSPEC && own.Text() == PeerOf(socket).Text();
}

std::string DeviceOf(const SocketAddress& address) {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found, freeifaddrs);
  const std::string wanted = NumberOf(address);
  for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    SocketAddress own;
    own.length = at->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6) continue;
    std::memcpy(&own.storage, at->ifa_addr, own.length);
    const std::string name = at->ifa_name;
    // A second address may have a label, as in eth0:1.
    if (NumberOf(own) == wanted) return name.substr(0, name.find(':'));
  }
  return "";
}

}  // namespace sgd::comm
