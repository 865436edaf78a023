// A leave action and a thread for signals, for as long as there is a job.
#include "runtime/process/process_policy.h"

#include <unistd.h>

#include <utility>

#include "runtime/process/leave.h"
#include "runtime/process/rank_place.h"
#include "runtime/process/signal_thread.h"
#include "runtime/process/thread_stack.h"

namespace sgd::process {
namespace {

class JobWatch final : public launch::FailurePolicy::Watch {
 public:
  // All are borrowed.
  JobWatch(const ProcessPolicy::Options& options, bool is_supervised, launch::JobHandle& job)
      : options_(options), is_supervised_(is_supervised), job_(job), leave_([this](const absl::Status& cause) {
          job_.Abort(cause);
          if (is_supervised_) _exit(1);
          if (options_.clean_up) options_.clean_up();
          PrintAndExit(job_.MessageOf(cause));
        }) {}

  absl::Status TakeSignals() {
    auto signals = process::TakeSignals({.stops = options_.stops_between_steps,
                                         .request_stop = [this](int signal) { job_.RequestStop(signal); },
                                         .is_state_kept = [this] { return job_.is_state_kept(); }});
    if (!signals.ok()) return signals.status();
    signals_ = *std::move(signals);
    return absl::OkStatus();
  }

 private:
  const ProcessPolicy::Options& options_;
  const bool is_supervised_;
  launch::JobHandle& job_;
  const LeaveAction leave_;
  std::unique_ptr<SignalThread> signals_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<launch::FailurePolicy::Watch>> ProcessPolicy::Enter(launch::JobHandle& job) {
  AnswerStackRequests();
  rank_thread_.store(gettid());
  auto watch = std::make_unique<JobWatch>(options_, is_supervised_, job);
  if (absl::Status status = watch->TakeSignals(); !status.ok()) return status;
  return watch;
}

void ProcessPolicy::GiveUp(const absl::Status& cause) {
  if (is_supervised_) _exit(1);
  LeaveAtOnce(cause);
}

void ProcessPolicy::Note(const std::string& text) {
  if (options_.note) options_.note(text);
}

std::string ProcessPolicy::Where() {
  launch::RankPosition position;
  {
    const std::lock_guard lock(position_mutex_);
    if (position_) position = position_();
  }
  return PlaceText(position, rank_thread_.load());
}

void ProcessPolicy::SetPosition(std::function<launch::RankPosition()> position) {
  const std::lock_guard lock(position_mutex_);
  position_ = std::move(position);
}

}  // namespace sgd::process
