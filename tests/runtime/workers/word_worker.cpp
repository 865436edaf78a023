// The worker of spawned_ranks_test. Requests are words.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/process/worker.h"

namespace sgd::process {
namespace {

using workers::kWorkerSocket;

constexpr absl::Duration kTimeout = absl::Seconds(60);

absl::Status CheckDescriptors() {
  if ((fcntl(kWorkerSocket, F_GETFD) & FD_CLOEXEC) == 0) return absl::InternalError("programs inherit the socket");
  // Behind the socket: the eventfd of Serve and segments of open jobs. The test leaks one at 200 at least.
  for (int descriptor = 100; descriptor < 1024; ++descriptor)
    if (fcntl(descriptor, F_GETFD) != -1) return absl::InternalError(absl::StrCat("descriptor ", descriptor, " leaks"));
  return absl::OkStatus();
}

absl::Status CheckSignals() {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  struct sigaction action = {};
  sigaction(SIGUSR1, nullptr, &action);
  if (sigismember(&blocked, SIGUSR2) == 1) return absl::InternalError("SIGUSR2 is blocked");
  if (action.sa_handler != SIG_DFL) return absl::InternalError("SIGUSR1 is ignored");
  return getpgrp() == getpid() ? absl::OkStatus() : absl::InternalError("has no process group of its own");
}

class WordWorker : public Worker {
 public:
  absl::Status Run(uint64_t job, launch::RankContext& context, std::string_view request) override {
    if (request == "count") ++counts_[job];
    if (request == "descriptors") return CheckDescriptors();
    if (request == "signals") return CheckSignals();
    if (context.rank == 1) {
      if (request == "fail") return absl::InternalError("the valve is stuck");
      if (request == "die") kill(getpid(), SIGKILL);
      if (request == "leave") _exit(3);
      if (request == "hang") pause();
      if (request == "return") return absl::OkStatus();
      if (request == "write") static_cast<void>(!write(kWorkerSocket, "hello", 5));
      if (request == "close") close(kWorkerSocket);
    }
    if (int expected = 0; absl::SimpleAtoi(std::string(request), &expected) && counts_[job] != expected)
      return absl::InternalError(absl::StrCat("counted ", counts_[job]));
    return context.control->Barrier(kTimeout);
  }
  void Close(uint64_t job) override { counts_.erase(job); }
  bool has_counts() const { return !counts_.empty(); }

 private:
  std::map<uint64_t, int> counts_;  // by job
};

}  // namespace
}  // namespace sgd::process

int main() {
  sgd::process::WordWorker worker;
  const absl::Status status = sgd::process::Serve(sgd::workers::kWorkerSocket, worker);
  if (worker.has_counts()) return 2;
  return status.ok() ? 0 : 1;
}
