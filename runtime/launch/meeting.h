// The rendezvous of a rank with the ranks started beside it while it still prepares, so that all know at once when one
// fails or dies in its preparation.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/comm/shared_memory/watcher.h"
#include "runtime/comm/tcp/tcp_meeting.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/rank_environment.h"

namespace sgd::launch {

// The plan that a rank is going to run.
struct MeetingPlan {
  uint64_t window_bytes = 0;  // as of LaunchOptions, or comm::kUnknownWindow for a rank that is going to Fail
  std::string name;           // equal on all ranks; empty where it is not known
};

// Belongs to one thread, and has one of its own.
class Meeting {
 public:
  // Borrows the policy, also for the watcher over ranks of this host that have met. ResourceExhausted without a thread.
  static absl::StatusOr<std::unique_ptr<Meeting>> Begin(const RankEnvironment& environment, const MeetingPlan& plan,
                                                        const std::string& secret, absl::Duration timeout,
                                                        FailurePolicy& policy);
  // Without having met, as by Fail.
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Tells the others that this rank cannot join and why. Waits until they know, or for about half a second if they
  // cannot be found. Returns the message that this rank is to print: the cause, unless another rank prints it.
  absl::Status Fail(const absl::Status& cause);

  // Waits until all have come. On one host: what they share, with a watcher over the others, which has begun its work
  // as soon as they had met. Errors as of comm::Rendezvous.
  struct OnHost {
    std::shared_ptr<comm::SharedMemorySegment> segment;
    std::unique_ptr<comm::Watcher> watcher;
  };
  absl::StatusOr<OnHost> WaitOnHost();
  // On several hosts: errors as of comm::MeetOverTcp.
  absl::StatusOr<std::vector<comm::ControlLink>> WaitOverTcp();

 private:
  explicit Meeting(FailurePolicy& policy) : policy_(policy) {}
  absl::StatusOr<OnHost> MeetOnHost(const MeetingPlan& plan);
  absl::Status CauseOnHost(const absl::Status& own);
  absl::Status failure();

  FailurePolicy& policy_;
  RankEnvironment environment_;
  std::string secret_;
  absl::Duration timeout_;
  std::mutex mutex_;
  absl::Status failure_;
  bool is_taken_ = false;  // what was met for is the caller's
  absl::StatusOr<OnHost> on_host_ = absl::UnknownError("");
  absl::StatusOr<std::vector<comm::ControlLink>> over_tcp_ = absl::UnknownError("");
  std::thread thread_;
};

}  // namespace sgd::launch
