// One frame at a time, whose reader takes no byte of the next one.
#include "runtime/comm/tcp/control_link.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "runtime/clock/steady_clock.h"
#include "runtime/comm/tcp/tcp_socket.h"

namespace sgd::comm {

ControlLink MakeLink(TcpConnection connection, uint32_t rank, bool is_listener) {
  std::string& send = is_listener ? connection.keys.of_listener : connection.keys.of_connector;
  std::string& receive = is_listener ? connection.keys.of_connector : connection.keys.of_listener;
  const bool is_local = !DeviceOf(connection.peer).empty();
  std::string interface = is_local ? "" : DeviceOf(OwnEndOf(connection.socket.get()));
  return {rank,
          std::move(connection.socket),
          FrameEncoder(std::move(send)),
          FrameDecoder(std::move(receive)),
          connection.peer.Text(),
          std::move(interface)};
}

absl::StatusOr<Frame> ReadFrame(ControlLink& link, absl::Time end) {
  absl::Status error;
  while (true) {
    if (std::optional<Frame> frame = link.decoder.Next(error)) return *std::move(frame);
    if (!error.ok()) return error;
    // No more than this frame: the rest is the control channel's.
    std::string bytes(std::max<size_t>(1, link.decoder.Needed()), '\0');
    const absl::StatusOr<size_t> count = ReadSome(link.socket.get(), std::as_writable_bytes(std::span(bytes)), end);
    if (!count.ok()) return count.status();
    link.decoder.Feed(std::string_view(bytes).substr(0, *count));
  }
}

void SendFrame(ControlLink& link, ControlKind kind, const std::string& payload) {
  const absl::StatusOr<std::string> wire = link.encoder.Encode(static_cast<uint32_t>(kind), 0, payload);
  if (!wire.ok()) return;  // the connection is closed with the meeting, which says as much
  static_cast<void>(
      WriteAll(link.socket.get(), std::as_bytes(std::span(*wire)), SteadyNow() + absl::Milliseconds(200)));
}

absl::StatusOr<TcpAcceptor> ListenAt(const HostAndPort& place, const std::string& secret,
                                     const std::function<void(const std::string& note)>& note) {
  absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(place);
  std::optional<TcpAcceptor> acceptor;
  std::set<std::string> known;
  for (const SocketAddress& address : addresses.ok() ? *addresses : std::vector<SocketAddress>()) {
    // A host's own name may stand for loopback in its /etc/hosts, which the user does not mean.
    if (address.IsLoopback() && !place.IsLoopback()) continue;
    if (!known.insert(address.Text()).second) continue;
    absl::Status status;
    if (acceptor.has_value()) {
      status = acceptor->AlsoListen(address);
    } else {
      absl::StatusOr<TcpAcceptor> first = TcpAcceptor::Listen(address, secret, note);
      status = first.status();
      if (first.ok()) acceptor = *std::move(first);
    }
    if (!status.ok() && status.code() != absl::StatusCode::kNotFound) return status;
  }
  if (acceptor.has_value()) return *std::move(acceptor);
  absl::StatusOr<TcpAcceptor> any = TcpAcceptor::Listen(AnyAddress(AF_INET6, place.port), secret, note);
  if (any.status().code() != absl::StatusCode::kInternal) return any;
  return TcpAcceptor::Listen(AnyAddress(AF_INET, place.port), secret, note);  // a host without IPv6
}

}  // namespace sgd::comm
