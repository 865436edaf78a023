// sendmsg and recvmsg. Every message is checked for its size and magic number.
#include "runtime/workers/worker_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/launch/interruption.h"

namespace sgd::workers {
namespace {

struct Outcome {
  uint64_t magic = 0x53474457524b4f31;
  int32_t code = 0;
  uint32_t is_interrupted = 0;
  char message[1008] = {};
};

// Room for one descriptor.
using Control = char[CMSG_SPACE(sizeof(int))];

void UseControl(msghdr& header, Control& control) {
  header.msg_control = control;
  header.msg_controllen = CMSG_LEN(sizeof(int));
}

void AddDescriptor(msghdr& header, int descriptor) {
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
}

// The descriptor that came along, empty without one.
comm::UniqueFd DescriptorOf(msghdr& header) {
  const cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS || part->cmsg_len != CMSG_LEN(sizeof(int))) return {};
  int number = -1;
  std::memcpy(&number, CMSG_DATA(part), sizeof(number));
  return comm::UniqueFd(number);
}

bool IsGone(int error) { return error == EPIPE || error == ECONNRESET; }

absl::Status NoMessage(ssize_t bytes, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("sent ", bytes, " bytes on the socket of workers, which are no ",
                                                 std::string(expected), "; leave descriptor ", kWorkerSocket,
                                                 " of a worker to Serve"));
}

}  // namespace

absl::StatusOr<std::pair<comm::UniqueFd, comm::UniqueFd>> NewWorkerSockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return absl::ErrnoToStatus(errno, "cannot make a socket for a worker");
  return std::pair(comm::UniqueFd(ends[0]), comm::UniqueFd(ends[1]));
}

absl::Status SendCommand(int socket, const WorkerCommand& command, std::string_view request, int segment) {
  iovec data[] = {{const_cast<WorkerCommand*>(&command), sizeof(command)},
                  {const_cast<char*>(request.data()), request.size()}};
  msghdr header = {};
  header.msg_iov = data;
  header.msg_iovlen = 2;
  alignas(cmsghdr) Control control = {};
  if (segment >= 0) {
    UseControl(header, control);
    AddDescriptor(header, segment);
  }
  ssize_t sent = 0;
  do sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent >= 0 || IsGone(errno)) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot send a command of ", sizeof(command) + request.size(), " bytes to the worker"));
}

absl::StatusOr<std::optional<ReceivedCommand>> ReceiveCommand(int socket) {
  ReceivedCommand received;
  WorkerCommand& command = received.command;
  received.request.resize(kMaxRequestBytes);
  iovec data[] = {{&command, sizeof(command)}, {received.request.data(), received.request.size()}};
  alignas(cmsghdr) Control control = {};
  msghdr header = {};
  header.msg_iov = data;
  header.msg_iovlen = 2;
  UseControl(header, control);
  ssize_t bytes = 0;
  do bytes = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (bytes < 0 && errno == EINTR);
  if (bytes == 0 || (bytes < 0 && IsGone(errno))) return std::nullopt;
  if (bytes < 0) return absl::ErrnoToStatus(errno, "cannot receive commands");
  received.segment = DescriptorOf(header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || bytes < static_cast<ssize_t>(sizeof(command)) ||
      command.magic != WorkerCommand().magic)
    return NoMessage(bytes, "command");
  received.request.resize(static_cast<size_t>(bytes) - sizeof(command));
  return received;
}

void SendOutcome(int socket, const absl::Status& outcome) {
  Outcome message;
  message.code = static_cast<int32_t>(outcome.code());
  message.is_interrupted = launch::IsInterrupted(outcome) ? 1 : 0;
  outcome.message().copy(message.message, sizeof(message.message) - 1);
  ssize_t sent = 0;
  do sent = send(socket, &message, sizeof(message), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
}

absl::StatusOr<std::optional<absl::Status>> ReceiveOutcome(int socket) {
  Outcome message;
  // With MSG_TRUNC the result is the message's length, of which the rest is dropped.
  const ssize_t bytes = recv(socket, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<absl::Status>();
  if (bytes <= 0) return absl::UnavailableError("has closed its socket");
  if (bytes != static_cast<ssize_t>(sizeof(message)) || message.magic != Outcome().magic)
    return NoMessage(bytes, "outcome");
  if (message.is_interrupted != 0) return std::optional(launch::Interrupted());
  return std::optional(absl::Status(static_cast<absl::StatusCode>(message.code),
                                    std::string(message.message, strnlen(message.message, sizeof(message.message)))));
}

}  // namespace sgd::workers
