// One thread serves commands in turn and answers each with its outcome. Another one notices that the program is gone.
#include "runtime/process/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/prepare_rank.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::process {
namespace {

using comm::SharedMemorySegment;
using workers::ReceivedCommand;
using workers::WorkerCommand;

constexpr int kGraceMilliseconds = 1000;

// This rank's part of a job.
struct OpenJob {
  std::shared_ptr<SharedMemorySegment> segment;
  launch::JoinedRank joined;
};

// Structs of both programs, the segment's too, must be the same.
absl::Status CheckBuild(const WorkerCommand& command) {
  const std::string theirs(command.build, strnlen(command.build, sizeof(command.build)));
  if (theirs == comm::BuildVersion()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the worker program is version ", comm::BuildVersion(),
                                                    ", the program that started it ", theirs,
                                                    "; expected one version; build both of the same sources"));
}

std::vector<int> CoresOf(const cpu_set_t& set) {
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

launch::LaunchOptions OptionsOf(const WorkerCommand& command) {
  launch::LaunchOptions options;
  options.deadline = absl::Nanoseconds(command.deadline_nanoseconds);
  options.threads = command.threads;
  options.comm_thread = static_cast<launch::CommThread>(command.comm_thread);
  return options;
}

class Server {
 public:
  Server(int socket, Worker& worker) : socket_(socket), worker_(worker), stop_(eventfd(0, EFD_CLOEXEC)) {}

  absl::Status Run() {
    if (!stop_.valid()) return absl::ErrnoToStatus(errno, "eventfd");
    // Programs that the worker starts must not keep the socket open.
    fcntl(socket_, F_SETFD, FD_CLOEXEC);
    absl::StatusOr<std::thread> watch = SpawnThread("the watch over the program", [this] { Watch(); });
    if (!watch.ok()) return watch.status();
    absl::Status status = ServeCommands();
    while (!jobs_.empty()) Close(jobs_.begin()->first);
    eventfd_write(stop_.get(), 1);
    watch->join();
    return status;
  }

 private:
  absl::Status ServeCommands() {
    for (;;) {
      absl::StatusOr<std::optional<ReceivedCommand>> received = workers::ReceiveCommand(socket_);
      if (!received.ok() || !received->has_value()) return received.status();
      workers::SendOutcome(socket_, Execute(**received));
    }
  }

  absl::Status Execute(ReceivedCommand& received) {
    const WorkerCommand& command = received.command;
    switch (command.kind) {
      case WorkerCommand::Kind::kOpen:
        return Open(command, std::move(received.segment));
      case WorkerCommand::Kind::kRun:
        return RunJob(command.job, received.request);
      case WorkerCommand::Kind::kClose:
        Close(command.job);
        return absl::OkStatus();
    }
    return absl::InvalidArgumentError("a command of an unknown kind");
  }

  absl::Status Open(const WorkerCommand& command, comm::UniqueFd descriptor) {
    if (absl::Status status = CheckBuild(command); !status.ok()) return status;
    absl::StatusOr<std::shared_ptr<SharedMemorySegment>> segment = SharedMemorySegment::Attach(std::move(descriptor));
    if (!segment.ok()) return segment.status();
    OpenJob& job = Add(command.job, *std::move(segment));
    if (const std::vector<int> cores = CoresOf(command.cores); !cores.empty()) launch::BindToCores(cores);
    absl::StatusOr<launch::JoinedRank> joined = launch::JoinRank(job.segment, command.rank, OptionsOf(command));
    if (joined.ok()) job.joined = *std::move(joined);
    return EndRun(job, command.rank, joined.status());
  }

  absl::Status RunJob(uint64_t number, const std::string& request) {
    const auto job = jobs_.find(number);
    if (job == jobs_.end()) return absl::NotFoundError(absl::StrCat("job ", number, " is not open"));
    launch::RankContext& context = job->second.joined.context;
    return EndRun(job->second, context.rank, worker_.Run(number, context, request));
  }

  // Tells the other ranks how it ended.
  static absl::Status EndRun(OpenJob& job, uint32_t rank, absl::Status outcome) {
    if (launch::EndsWell(outcome)) {
      job.joined.communicator->control().Finish();
    } else {
      job.segment->Abort(rank, outcome);
    }
    return outcome;
  }

  OpenJob& Add(uint64_t number, std::shared_ptr<SharedMemorySegment> segment) {
    const std::lock_guard lock(mutex_);
    OpenJob& job = jobs_[number];
    job.segment = std::move(segment);
    return job;
  }

  // A worker that has replaced another one does not have its jobs.
  void Close(uint64_t number) {
    if (!jobs_.contains(number)) return;
    worker_.Close(number);
    const std::lock_guard lock(mutex_);
    jobs_.erase(number);
  }

  void Watch() {
    pollfd ends[] = {{stop_.get(), POLLIN, 0}, {socket_, POLLRDHUP, 0}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR) continue;
    if (ends[0].revents != 0) return;
    AbortAll(absl::UnavailableError("the program that started this worker is gone"));
    if (poll(ends, 1, kGraceMilliseconds) == 0) _exit(1);
  }

  void AbortAll(const absl::Status& cause) {
    const std::lock_guard lock(mutex_);
    for (auto& [number, job] : jobs_) job.segment->Abort(SharedMemorySegment::kNoRank, cause);
  }

  const int socket_;
  Worker& worker_;
  const comm::UniqueFd stop_;
  std::mutex mutex_;                  // of the map and the segments; all else belongs to the thread that serves
  std::map<uint64_t, OpenJob> jobs_;  // by number
};

}  // namespace

absl::Status Serve(int socket, Worker& worker) { return Server(socket, worker).Run(); }

}  // namespace sgd::process
