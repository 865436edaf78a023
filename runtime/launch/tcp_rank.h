// A rank that has joined the ranks of other processes, on this host and on others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/hosts/two_level_communicator.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/comm/tcp/tcp_control.h"
#include "runtime/comm/tcp/tcp_meeting.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/host_memory.h"
#include "runtime/launch/membership.h"

namespace sgd::launch {

struct TcpRankOptions {
  RankEnvironment environment;
  uint32_t local_rank = 0;  // this rank's number among those of the environment
  // Shared by a supervisor with the ranks that it has started; null: there is none.
  std::shared_ptr<comm::SharedMemorySegment> segment = nullptr;
  // Null, or has begun.
  std::unique_ptr<Meeting> meeting = nullptr;
  // As of comm::TcpMeetingOptions, of ranks without a meeting that has begun.
  comm::TcpAcceptor* acceptor = nullptr;
  std::function<absl::Status()> own_failure = nullptr;
  // Called once, on any thread, with the rank at fault and the cause of the job's end. May be empty.
  std::function<void(uint32_t rank, const absl::Status& cause)> on_abort = nullptr;
};

class TcpRank final : public Membership {
 public:
  // Waits for the other ranks. Errors as of comm::MeetOverTcp.
  static absl::StatusOr<std::unique_ptr<TcpRank>> Meet(TcpRankOptions given, const LaunchOptions& options);

  ~TcpRank() override;

  // All ranks call it, each on the thread that is going to compute: finds those of this host, cores, and with windows
  // memory and communicator. An error is told to the others by End.
  absl::Status Prepare();

  comm::Control& control() { return *control_; }
  // Empty before Prepare.
  RankContext& context() override { return context_; }
  void EndRun() override {}
  void Leave() override { control_->Finish(); }

  // Ends the job of a rank whose function has returned `outcome`, and waits for the others, so that nobody closes
  // connections that others read from. Returns the outcome, or the error of the others.
  absl::Status End(const absl::Status& outcome);

 private:
  // Towards the program.
  class Job;

  TcpRank(TcpRankOptions given, const LaunchOptions& options);
  absl::StatusOr<std::vector<comm::ControlLink>> MeetOthers();
  absl::Status StartChannel(std::vector<comm::ControlLink> links);
  absl::Status Connect(const HostRanks& host, const std::vector<std::string>& interfaces);
  absl::Status StartThread(bool has_spare_core);

  TcpRankOptions given_;
  const LaunchOptions options_;
  HostMemory memory_;
  comm::ControlChannel* channel_ = nullptr;  // of control_
  std::unique_ptr<comm::TcpControl> control_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<FailurePolicy::Watch> watch_;
  std::unique_ptr<comm::TwoLevelCommunicator> communicator_;  // null without windows
  RankContext context_;
};

}  // namespace sgd::launch
