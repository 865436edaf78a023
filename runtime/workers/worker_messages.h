// The messages between a program and its worker processes, on a Unix socket that keeps their bounds.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::workers {

// The number of the worker's end of its socket in the worker.
inline constexpr int kWorkerSocket = 3;

// The largest request. A command is one message, which the system has to hold.
inline constexpr size_t kMaxRequestBytes = 64 << 10;

// To a worker, which answers each with an outcome.
struct WorkerCommand {
  enum class Kind : uint32_t { kOpen, kRun, kClose };

  uint64_t magic = 0x53474457524b4331;
  uint64_t job = 0;
  Kind kind = Kind::kRun;
  // Of kOpen, which brings the segment's descriptor.
  uint32_t rank = 0;
  uint32_t threads = 0;  // as of LaunchOptions, as the next two
  int32_t comm_thread = 0;
  int64_t deadline_nanoseconds = 0;
  cpu_set_t cores = {};  // that the worker is bound to; empty: not bound
  char build[64] = {};   // comm::BuildVersion() of the program
};

struct ReceivedCommand {
  WorkerCommand command;
  std::string request;     // of kRun
  comm::UniqueFd segment;  // of kOpen
};

// Two connected ends, the program's and the worker's. Both are closed by exec.
absl::StatusOr<std::pair<comm::UniqueFd, comm::UniqueFd>> NewWorkerSockets();

// `segment` is passed along unless it is -1. OK if the worker is gone: its end says more.
absl::Status SendCommand(int socket, const WorkerCommand& command, std::string_view request, int segment);
// Waits for a command; nullopt when the program is gone. InvalidArgument for any other message.
absl::StatusOr<std::optional<ReceivedCommand>> ReceiveCommand(int socket);

// Longer messages are cut. Says nothing to a program that is gone.
void SendOutcome(int socket, const absl::Status& outcome);
// Does not wait: nullopt when none has come. Unavailable when the worker has closed its end, InvalidArgument for any
// other message.
absl::StatusOr<std::optional<absl::Status>> ReceiveOutcome(int socket);

}  // namespace sgd::workers
