// posix_spawn and a pidfd: they need no handler of the program, and not that it has one thread.
#include "runtime/workers/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/shared_memory/watcher.h"
#include "runtime/workers/worker_messages.h"

namespace sgd::workers {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(1);

// Waits for the process of a pidfd to end, at most until `deadline`.
bool WaitForEnd(int descriptor, absl::Time deadline) {
  pollfd end = {descriptor, POLLIN, 0};
  for (;;) {
    const int64_t milliseconds = absl::ToInt64Milliseconds(deadline - SteadyNow());
    const int count = poll(&end, 1, static_cast<int>(std::max<int64_t>(milliseconds, 0)));
    if (count >= 0 || errno != EINTR) return count == 1;
  }
}

// Settings that differ between this process and a worker.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, socket, kWorkerSocket);
    // Also those that the program has opened without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&files_, kWorkerSocket + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

absl::StatusOr<pid_t> SpawnWith(const std::vector<std::string>& command, int socket) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  // Above kWorkerSocket: a copy of a descriptor to itself would stay closed by exec.
  const comm::UniqueFd above(fcntl(socket, F_DUPFD_CLOEXEC, kWorkerSocket + 1));
  if (!above.valid()) return absl::ErrnoToStatus(errno, "cannot copy the socket of a worker");
  const SpawnSettings settings(above.get());
  pid_t pid = -1;
  const int error = posix_spawn(&pid, arguments[0], settings.files(), settings.attributes(), arguments.data(), environ);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot start the worker program ", command[0]));
  return pid;
}

// Waits for the end of a child process and says how it ended.
std::string Reap(pid_t pid) {
  int status = 0;
  pid_t reaped = -1;
  do reaped = waitpid(pid, &status, 0);
  while (reaped < 0 && errno == EINTR);
  const std::string how = reaped == pid ? comm::DescribeExit(status) : "ended, and somebody else was told how";
  return absl::StrCat(how, ", process ", pid);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Spawn(const std::vector<std::string>& command) {
  if (command.empty()) return absl::InvalidArgumentError("no worker program; expected a path and its arguments");
  auto sockets = NewWorkerSockets();
  if (!sockets.ok()) return sockets.status();
  const absl::StatusOr<pid_t> pid = SpawnWith(command, sockets->second.get());
  if (!pid.ok()) return pid.status();
  comm::UniqueFd descriptor(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!descriptor.valid()) {
    absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("pidfd_open of process ", *pid));
    // ESRCH: it has ended, and the program ignores SIGCHLD.
    if (!absl::IsNotFound(status)) kill(*pid, SIGKILL);
    Reap(*pid);
    return status;
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(*pid, std::move(sockets->first), std::move(descriptor)));
}

WorkerProcess::~WorkerProcess() {
  if (!is_reaped_) End();
}

bool WorkerProcess::has_ended() const { return is_reaped_ || WaitForEnd(descriptor_.get(), absl::InfinitePast()); }

void WorkerProcess::Kill() { syscall(SYS_pidfd_send_signal, descriptor_.get(), SIGKILL, nullptr, 0); }

void WorkerProcess::HangUp() {
  if (!socket_.valid()) return;
  socket_ = comm::UniqueFd();
  kill_at_ = SteadyNow() + kGrace;
}

std::string WorkerProcess::End() {
  HangUp();
  const bool ends = WaitForEnd(descriptor_.get(), kill_at_);
  if (!ends) Kill();
  const std::string how = Reap(pid_);
  is_reaped_ = true;
  return ends ? how : absl::StrCat("closed its socket and did not end, process ", pid_);
}

}  // namespace sgd::workers
