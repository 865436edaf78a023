// One message each way: a rank says who it is; rank 0 answers with the segment's descriptor or with
// the error of the job.
#include "runtime/comm/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/comm/unique_fd.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kHelloMagic = 0x53474448454c4f31;
constexpr absl::Duration kRetry = absl::Milliseconds(5);
constexpr absl::Duration kLinger = absl::Milliseconds(500);

struct Hello {
  uint64_t magic = kHelloMagic;
  uint32_t rank = 0;
  uint32_t size = 0;
  uint64_t window_bytes = 0;
};

struct Answer {
  int32_t code = 0;
  char message[1020] = {};
};

struct Joined {
  uint32_t rank;
  UniqueFd socket;
  pid_t pid;
};

absl::Status Errno(const char* call) {
  return absl::InternalError(absl::StrCat("rendezvous: ", call, ": ", std::strerror(errno)));
}

// An abstract address: the leading zero keeps it out of the file system. Long names are hashed into
// shape.
socklen_t MakeAddress(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  std::string path = absl::StrCat("sgd-", getuid(), "-", name);
  if (path.size() > sizeof(address->sun_path) - 1) {
    path = absl::StrCat(path.substr(0, 60), "-", std::hash<std::string>()(path));
  }
  std::memcpy(address->sun_path + 1, path.data(), path.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
}

UniqueFd NewSocket() { return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// Waits until something can be read or the other side is gone; false at the end of the time.
bool WaitReadable(int fd, absl::Time end) {
  pollfd descriptor = {fd, POLLIN, 0};
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(end - absl::Now());
    if (left < 0) return false;
    const int ready = poll(&descriptor, 1, static_cast<int>(std::min<int64_t>(left, 60'000)) + 1);
    if (ready > 0) return true;
  }
}

void SendAnswer(const UniqueFd& socket, const absl::Status& status, int segment) {
  Answer answer;
  answer.code = static_cast<int32_t>(status.code());
  status.message().copy(answer.message, sizeof(answer.message) - 1);
  iovec data = {&answer, sizeof(answer)};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (status.ok()) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &segment, sizeof(int));
  }
  sendmsg(socket.get(), &message, MSG_NOSIGNAL);  // a rank that is gone is noticed by the watchers
}

absl::StatusOr<UniqueFd> ReceiveAnswer(const UniqueFd& socket) {
  Answer answer;
  iovec data = {&answer, sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t received = recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (received != static_cast<ssize_t>(sizeof(answer))) {
    return absl::UnavailableError("rank 0 ended before all ranks had joined");
  }
  answer.message[sizeof(answer.message) - 1] = '\0';
  if (answer.code != 0) {
    return absl::Status(static_cast<absl::StatusCode>(answer.code), answer.message);
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    return absl::InternalError("rendezvous: rank 0 sent no segment");
  }
  int segment = -1;
  std::memcpy(&segment, CMSG_DATA(header), sizeof(int));
  return UniqueFd(segment);
}

// The other end's credentials; its user must be this process's.
absl::StatusOr<pid_t> PeerProcess(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return Errno("SO_PEERCRED");
  }
  if (credentials.uid != getuid()) {
    return absl::PermissionDeniedError("rendezvous: another user's process uses this job's name");
  }
  return credentials.pid;
}

// Rank 0's side: collects the others, then answers all of them.
class Host {
 public:
  explicit Host(const RendezvousOptions& options) : options_(options), end_(absl::Now() + options.timeout) {}

  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Run() {
    absl::StatusOr<std::shared_ptr<SharedMemorySegment>> segment = Collect();
    if (!segment.ok()) Linger();
    for (const Joined& joined : joined_) {
      SendAnswer(joined.socket, segment.status(), segment.ok() ? (*segment)->fd() : -1);
    }
    return segment;
  }

 private:
  absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Collect() {
    if (absl::Status status = Listen(); !status.ok()) return status;
    while (joined_.size() + 1 < options_.size) {
      if (absl::Status status = AcceptOne(); !status.ok()) return status;
    }
    auto segment = SharedMemorySegment::Create(options_.size, options_.window_bytes);
    if (!segment.ok()) return segment.status();
    (*segment)->flag(0).pid.store(getpid());
    for (const Joined& joined : joined_) (*segment)->flag(joined.rank).pid.store(joined.pid);
    return segment;
  }

  // The name may be held a moment longer by the last run's rank 0, hence the retries.
  absl::Status Listen() {
    listener_ = NewSocket();
    if (!listener_.valid()) return Errno("socket");
    sockaddr_un address;
    const socklen_t length = MakeAddress(options_.name, &address);
    while (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      if (errno != EADDRINUSE) return Errno("bind");
      if (absl::Now() >= end_) {
        return absl::AlreadyExistsError(
            absl::StrCat("another job uses the rendezvous '", options_.name, "', or rank 0 was started twice"));
      }
      absl::SleepFor(kRetry);
    }
    return listen(listener_.get(), 1024) == 0 ? absl::OkStatus() : Errno("listen");
  }

  // Waits for the next rank; notices meanwhile that one which has joined is gone.
  absl::Status AcceptOne() {
    std::vector<pollfd> descriptors = {{listener_.get(), POLLIN, 0}};
    for (const Joined& joined : joined_) descriptors.push_back({joined.socket.get(), POLLIN, 0});
    const int64_t left = absl::ToInt64Milliseconds(end_ - absl::Now());
    if (left < 0) return Missing();
    poll(descriptors.data(), descriptors.size(), static_cast<int>(std::min<int64_t>(left, 60'000)) + 1);
    for (size_t i = 1; i < descriptors.size(); ++i) {
      if (descriptors[i].revents != 0) {
        return absl::UnavailableError(absl::StrCat("rank ", joined_[i - 1].rank, " (process ", joined_[i - 1].pid,
                                                   ") has ended during start-up"));
      }
    }
    if (descriptors[0].revents == 0) return absl::OkStatus();
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) return errno == EINTR ? absl::OkStatus() : Errno("accept");
    return Admit(std::move(socket));
  }

  // After an error, gives ranks that are about to come a moment to hear of it too.
  void Linger() {
    const absl::Time end = absl::Now() + kLinger;
    while (listener_.valid() && joined_.size() + 1 < options_.size && WaitReadable(listener_.get(), end)) {
      UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.valid()) joined_.push_back({0, std::move(socket), 0});
    }
  }

  absl::Status Admit(UniqueFd socket) {
    absl::StatusOr<pid_t> pid = PeerProcess(socket.get());
    if (!pid.ok()) return pid.status();
    Hello hello;
    if (!WaitReadable(socket.get(), std::min(end_, absl::Now() + absl::Seconds(5))) ||
        recv(socket.get(), &hello, sizeof(hello), 0) != static_cast<ssize_t>(sizeof(hello)) ||
        hello.magic != kHelloMagic) {
      return absl::OkStatus();  // not one of ours, or gone again: its connection is closed
    }
    joined_.push_back({hello.rank, std::move(socket), *pid});
    return Check(hello, *pid);
  }

  absl::Status Check(const Hello& hello, pid_t pid) const {
    const std::string who = absl::StrCat("rank ", hello.rank, " (process ", pid, ")");
    if (hello.size != options_.size) {
      return absl::FailedPreconditionError(
          absl::StrCat(who, " says that the job has ", hello.size, " ranks, rank 0 says ", options_.size));
    }
    if (hello.window_bytes != options_.window_bytes) {
      return absl::FailedPreconditionError(absl::StrCat(who, " has another artifact than rank 0: windows of ",
                                                        hello.window_bytes, " and ", options_.window_bytes, " bytes"));
    }
    const auto same = [&](const Joined& joined) { return joined.rank == hello.rank; };
    if (hello.rank == 0 || hello.rank >= options_.size || std::count_if(joined_.begin(), joined_.end(), same) > 1) {
      return absl::FailedPreconditionError(absl::StrCat("two processes say that they are rank ", hello.rank));
    }
    return absl::OkStatus();
  }

  absl::Status Missing() const {
    std::vector<uint32_t> missing;
    for (uint32_t rank = 1; rank < options_.size; ++rank) {
      const auto same = [&](const Joined& joined) { return joined.rank == rank; };
      if (std::none_of(joined_.begin(), joined_.end(), same)) missing.push_back(rank);
    }
    return absl::DeadlineExceededError(absl::StrCat("rank ", absl::StrJoin(missing, ", "), " of ", options_.size,
                                                    " did not join '", options_.name, "' on this host within ",
                                                    absl::FormatDuration(options_.timeout)));
  }

  const RendezvousOptions& options_;
  const absl::Time end_;
  UniqueFd listener_;
  std::vector<Joined> joined_;
};

absl::StatusOr<UniqueFd> ConnectToHost(const RendezvousOptions& options, absl::Time end) {
  sockaddr_un address;
  const socklen_t length = MakeAddress(options.name, &address);
  while (true) {
    UniqueFd socket = NewSocket();
    if (!socket.valid()) return Errno("socket");
    if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return socket;
    if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN) return Errno("connect");
    if (absl::Now() >= end) {
      return absl::DeadlineExceededError(absl::StrCat("rank 0 did not appear at '", options.name,
                                                      "' on this host within ", absl::FormatDuration(options.timeout)));
    }
    absl::SleepFor(kRetry);
  }
}

absl::StatusOr<std::shared_ptr<SharedMemorySegment>> JoinHost(const RendezvousOptions& options) {
  const absl::Time end = absl::Now() + options.timeout;
  absl::StatusOr<UniqueFd> socket = ConnectToHost(options, end);
  if (!socket.ok()) return socket.status();
  if (absl::StatusOr<pid_t> host = PeerProcess(socket->get()); !host.ok()) return host.status();
  Hello hello;
  hello.rank = options.rank;
  hello.size = options.size;
  hello.window_bytes = options.window_bytes;
  if (send(socket->get(), &hello, sizeof(hello), MSG_NOSIGNAL) < 0) return Errno("send");
  // Rank 0 names who is missing at its own timeout; its answer is given a moment more.
  if (!WaitReadable(socket->get(), end + absl::Seconds(2))) {
    return absl::DeadlineExceededError(
        absl::StrCat("rank 0 did not answer within ", absl::FormatDuration(options.timeout)));
  }
  absl::StatusOr<UniqueFd> segment = ReceiveAnswer(*socket);
  if (!segment.ok()) return segment.status();
  return SharedMemorySegment::Attach(*std::move(segment));
}

}  // namespace

absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Rendezvous(const RendezvousOptions& options) {
  if (options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", options.rank, " of a job of ", options.size, " ranks"));
  }
  if (options.rank == 0) return Host(options).Run();
  return JoinHost(options);
}

}  // namespace sgd::comm
