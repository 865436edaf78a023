// A rank that is a process of its own and stays between jobs: the program that workers::SpawnedRanks starts.
//
//   int main() {
//     MyWorker worker;
//     return sgd::process::Serve(sgd::workers::kWorkerSocket, worker).ok() ? 0 : 1;
//   }
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/launch/launch.h"
#include "runtime/workers/worker_messages.h"

namespace sgd::process {

// Serves requests. All calls come on the thread that serves.
class Worker {
 public:
  virtual ~Worker() = default;
  // Serves `request` as a rank of `job`, while the other ranks serve the same one. The context lives until Close. An
  // error ends the job, and the worker goes on.
  virtual absl::Status Run(uint64_t job, launch::RankContext& context, std::string_view request) = 0;
  // Destroys the worker's objects of a job, which use its context. The job may have ended before its first request.
  virtual void Close(uint64_t job) = 0;
};

// Serves until the program on the other end closes the socket or is gone, and then closes all jobs. The end of the
// program also ends waits of a run; a run that has not returned a second later ends with this process, exit code 1.
// ResourceExhausted without a thread; InvalidArgument when a message is no command.
absl::Status Serve(int socket, Worker& worker);

}  // namespace sgd::process
