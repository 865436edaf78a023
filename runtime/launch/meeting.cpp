// A thread around comm::Rendezvous or comm::MeetOverTcp, which ask it for a failure while they wait.
#include "runtime/launch/meeting.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/comm/shared_memory/job_cause.h"
#include "runtime/comm/shared_memory/rendezvous.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::launch {

absl::StatusOr<std::unique_ptr<Meeting>> Meeting::Begin(const RankEnvironment& environment, const MeetingPlan& plan,
                                                        const std::string& secret, absl::Duration timeout,
                                                        FailurePolicy& policy) {
  std::unique_ptr<Meeting> self(new Meeting(policy));
  self->environment_ = environment;
  self->secret_ = secret;
  self->timeout_ = timeout;
  const auto run = [meeting = self.get(), plan] {
    if (!meeting->environment_.master.has_value()) {
      meeting->on_host_ = meeting->MeetOnHost(plan);
      return;
    }
    meeting->over_tcp_ = comm::MeetOverTcp({.place = *meeting->environment_.master,
                                            .rank = meeting->environment_.rank,
                                            .size = meeting->environment_.size,
                                            .secret = meeting->secret_,
                                            .timeout = meeting->timeout_,
                                            .nodes = meeting->environment_.ToldNodes(),
                                            .own_failure = [meeting] { return meeting->failure(); },
                                            .note = NotesTo(meeting->policy_)});
  };
  absl::StatusOr<std::thread> thread = SpawnThread("meeting the other ranks", run);
  if (!thread.ok()) {
    // Meets on this thread, and tells the others why it does not go on.
    self->failure_ = thread.status();
    run();
    return self->Fail(thread.status());
  }
  self->thread_ = *std::move(thread);
  return self;
}

Meeting::~Meeting() {
  if (!is_taken_) Fail(absl::CancelledError("ended before it joined")).IgnoreError();
}

absl::Status Meeting::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

absl::Status Meeting::Fail(const absl::Status& cause) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = cause;
  }
  if (thread_.joinable()) thread_.join();
  is_taken_ = true;
  // Those that have met already hear of it as of any error.
  if (over_tcp_.ok()) comm::TellAbort(*over_tcp_, environment_.rank, cause);
  return environment_.master.has_value() ? cause : CauseOnHost(cause);
}

// The job's first cause may be another rank's.
absl::Status Meeting::CauseOnHost(const absl::Status& own) {
  if (on_host_.ok()) {
    comm::SharedMemorySegment& segment = *on_host_->segment;
    segment.Abort(environment_.rank, own);
    return comm::JobCauseOrOwn(segment, environment_.rank, own);
  }
  // Rank 0 prints what it has answered to the others.
  const absl::Status answer = on_host_.status();
  if (environment_.rank != 0 || absl::StrContains(answer.message(), own.message())) return answer;
  return absl::Status(own.code(), absl::StrCat(own.message(), "; ", answer.message()));
}

absl::StatusOr<Meeting::OnHost> Meeting::MeetOnHost(const MeetingPlan& plan) {
  comm::RendezvousOptions options;
  options.name = environment_.rendezvous;
  options.rank = environment_.rank;
  options.size = environment_.size;
  options.window_bytes = plan.window_bytes;
  options.plan = plan.name;
  options.timeout = timeout_;
  options.own_failure = [this] { return failure(); };
  options.note = NotesTo(policy_);
  absl::StatusOr<std::shared_ptr<comm::SharedMemorySegment>> segment = comm::Rendezvous(options);
  if (!segment.ok()) return segment.status();
  comm::WatcherOptions watching;
  watching.give_up = [policy = &policy_](const absl::Status& cause) { policy->GiveUp(cause); };
  watching.where = [policy = &policy_] { return policy->Where(); };
  absl::StatusOr<std::unique_ptr<comm::Watcher>> watcher =
      comm::Watcher::Start(*segment, environment_.rank, std::move(watching));
  if (watcher.ok()) return OnHost{*std::move(segment), *std::move(watcher)};
  (*segment)->Abort(environment_.rank, watcher.status());
  return watcher.status();
}

absl::StatusOr<Meeting::OnHost> Meeting::WaitOnHost() {
  if (thread_.joinable()) thread_.join();
  is_taken_ = true;
  return std::move(on_host_);
}

absl::StatusOr<std::vector<comm::ControlLink>> Meeting::WaitOverTcp() {
  if (thread_.joinable()) thread_.join();
  is_taken_ = true;
  return std::move(over_tcp_);
}

}  // namespace sgd::launch
