// poll around recv and send.
#include "runtime/comm/tcp/tcp_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::comm {
namespace {

bool MayTryAgain() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

absl::Status Broken() { return absl::UnavailableError(absl::StrCat("connection lost: ", std::strerror(errno))); }

}  // namespace

absl::Status PrepareSocket(int socket) {
  const struct {
    int level, name, value;
  } options[] = {
      {IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 5},
      {IPPROTO_TCP, TCP_KEEPINTVL, 3}, {IPPROTO_TCP, TCP_KEEPCNT, 5}, {IPPROTO_TCP, TCP_USER_TIMEOUT, 20000},
  };
  for (const auto& option : options) {
    if (setsockopt(socket, option.level, option.name, &option.value, sizeof(option.value)) != 0) {
      return absl::InternalError(absl::StrCat("setsockopt: ", std::strerror(errno)));
    }
  }
  const int flags = fcntl(socket, F_GETFL);
  if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0) {
    return absl::InternalError(absl::StrCat("fcntl: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

bool WaitForSocket(int socket, short events, absl::Time end) {
  pollfd descriptor = {socket, events, 0};
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(end - SteadyNow());
    if (left < 0) return false;
    if (poll(&descriptor, 1, static_cast<int>(std::min<int64_t>(left, 60'000)) + 1) > 0) return true;
  }
}

bool IsReadable(int socket) {
  pollfd descriptor = {socket, POLLIN, 0};
  return poll(&descriptor, 1, 0) > 0;
}

absl::StatusOr<size_t> ReadSome(int socket, std::span<std::byte> bytes, absl::Time end) {
  while (true) {
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
    if (count > 0) return static_cast<size_t>(count);
    if (count == 0) return absl::UnavailableError("connection closed by the other end");
    if (!MayTryAgain()) return Broken();
    if (!WaitForSocket(socket, POLLIN, end)) return absl::DeadlineExceededError("nothing has come");
  }
}

absl::Status ReadAll(int socket, std::span<std::byte> bytes, absl::Time end) {
  while (!bytes.empty()) {
    const absl::StatusOr<size_t> count = ReadSome(socket, bytes, end);
    if (!count.ok()) return count.status();
    bytes = bytes.subspan(*count);
  }
  return absl::OkStatus();
}

absl::Status WriteAll(int socket, std::span<const std::byte> bytes, absl::Time end) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && !MayTryAgain()) return Broken();
    if (count < 0 && !WaitForSocket(socket, POLLOUT, end)) return absl::DeadlineExceededError("the peer does not read");
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  return absl::OkStatus();
}

}  // namespace sgd::comm
