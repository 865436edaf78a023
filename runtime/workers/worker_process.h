// A worker as the program that has started it sees it: a child process and a socket.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::workers {

class WorkerProcess {
 public:
  // Starts `command`, the path of a program and its arguments, with the environment of this program. The worker has
  // standard input, output and error of this program, its end of the socket as kWorkerSocket, and no other descriptor.
  // No signal is blocked or ignored in it. It has a process group of its own: a terminal's signals are this program's.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const std::vector<std::string>& command);
  // As End.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // This program's end of the socket.
  int socket() const { return socket_.get(); }
  // A pidfd, readable when the process has ended.
  int descriptor() const { return descriptor_.get(); }
  bool has_ended() const;

  void Kill();
  // Closes this program's end, which lets the worker end.
  void HangUp();
  // Hangs up, kills the worker if it has not ended a second after that, and returns how it ended: "killed by signal 9
  // (Killed), process 4711".
  std::string End();

 private:
  WorkerProcess(pid_t pid, comm::UniqueFd socket, comm::UniqueFd descriptor)
      : pid_(pid), socket_(std::move(socket)), descriptor_(std::move(descriptor)) {}

  const pid_t pid_;
  comm::UniqueFd socket_;
  const comm::UniqueFd descriptor_;
  absl::Time kill_at_;  // when a worker that has been hung up on is killed
  bool is_reaped_ = false;
};

}  // namespace sgd::workers
