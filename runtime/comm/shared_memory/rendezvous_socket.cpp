// recvmsg and sendmsg; whatever comes is checked for its size and magic number.
#include "runtime/comm/shared_memory/rendezvous_socket.h"

#include <errno.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

// `control` has room for one descriptor, or is empty: then descriptors that come are closed by the system.
template <typename Message>
Received ReceiveMessage(int socket, Message& message, void* control, size_t control_bytes, msghdr& header) {
  // One byte more, to see messages that are too long.
  alignas(Message) char bytes[sizeof(Message) + 1];
  iovec data = {bytes, sizeof(bytes)};
  header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = control_bytes;
  ssize_t count = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // The other end has closed without reading everything; what it had sent comes after this error.
  if (count < 0 && errno == ECONNRESET) count = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Received::kNothingYet : Received::kEnd;
  }
  if (count == 0) return Received::kEnd;
  if (count != static_cast<ssize_t>(sizeof(message))) return Received::kOther;
  std::memcpy(&message, bytes, sizeof(message));
  return message.magic == Message().magic ? Received::kMessage : Received::kOther;
}

}  // namespace

socklen_t MakeRendezvousAddress(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  std::string path = absl::StrCat("sgd-", getuid(), "-", name);
  if (path.size() > sizeof(address->sun_path) - 1) {
    path = absl::StrCat(path.substr(0, 60), "-", std::hash<std::string>()(path));
  }
  std::memcpy(address->sun_path + 1, path.data(), path.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
}

UniqueFd NewRendezvousSocket() { return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

absl::StatusOr<ucred> PeerOfRendezvous(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) return credentials;
  return absl::InternalError(absl::StrCat("rendezvous: SO_PEERCRED: ", std::strerror(errno)));
}

Received Receive(int socket, RendezvousHello& hello) {
  msghdr header;
  return ReceiveMessage(socket, hello, nullptr, 0, header);
}

Received Receive(int socket, RendezvousOutcome& outcome) {
  msghdr header;
  return ReceiveMessage(socket, outcome, nullptr, 0, header);
}

Received Receive(int socket, RendezvousOutcome& outcome, UniqueFd& descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header;
  const Received received = ReceiveMessage(socket, outcome, control, sizeof(control), header);
  if (received != Received::kMessage && received != Received::kOther) return received;
  const cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS || part->cmsg_len != CMSG_LEN(sizeof(int))) return received;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(part), sizeof(number));
  descriptor = UniqueFd(number);
  return received;
}

bool Send(int socket, const RendezvousHello& hello) {
  return send(socket, &hello, sizeof(hello), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(hello));
}

void Send(int socket, const absl::Status& outcome, int descriptor) {
  RendezvousOutcome message;
  message.code = static_cast<int32_t>(outcome.code());
  outcome.message().copy(message.message, sizeof(message.message) - 1);
  iovec data = {&message, sizeof(message)};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
  }
  sendmsg(socket, &header, MSG_NOSIGNAL);
}

absl::Status StatusOf(const RendezvousOutcome& outcome) {
  return absl::Status(static_cast<absl::StatusCode>(outcome.code),
                      std::string(outcome.message, strnlen(outcome.message, sizeof(outcome.message))));
}

}  // namespace sgd::comm
