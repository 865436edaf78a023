// Waits with a signalfd for children and for the user; the segment keeps the first error, whichever
// process saw it.
#include "runtime/process/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/shared_memory/watcher.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/process/leave.h"
#include "runtime/process/signal_thread.h"

namespace sgd::process {
namespace {

using comm::RankState;
using comm::SharedMemorySegment;
using launch::EndsWell;
using launch::kExitInterrupted;

constexpr absl::Duration kGrace = absl::Milliseconds(25);
constexpr absl::Duration kGraceOfMeetings =
    absl::Seconds(1);  // rank 0 waits half of it for ranks that are about to come

// Ranks of other hosts miss them first, and say so.
constexpr absl::Duration kOtherHosts = absl::Seconds(3);

// Whoever is woken so late has not waited.
constexpr absl::Duration kOwnStop = absl::Seconds(5);

// Blocks the signals the supervisor reads from a descriptor. All but SIGCHLD stay blocked at the end: the process is
// about to end, or to start other ranks, and must not end for another reason.
class BlockedSignals {
 public:
  explicit BlockedSignals(bool takes_hang_up) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGCHLD);
    for (int signal : kStopSignals) sigaddset(&signals_, signal);
    if (takes_hang_up) sigaddset(&signals_, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals_, &previous_);
    of_ranks_ = signals_;
    sigdelset(&of_ranks_, SIGCHLD);
    sigaddset(&of_ranks_, StopRequestSignal());
    sigprocmask(SIG_BLOCK, &of_ranks_, nullptr);
    descriptor_ = comm::UniqueFd(signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~BlockedSignals() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (sigismember(&previous_, SIGCHLD) == 0) sigprocmask(SIG_UNBLOCK, &children, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // Signals that a rank's SignalThread reads must not end the rank before that has started.
  void RestoreForRank() { sigprocmask(SIG_SETMASK, &of_ranks_, nullptr); }
  int descriptor() const { return descriptor_.get(); }

 private:
  sigset_t signals_;
  sigset_t previous_;
  sigset_t of_ranks_;
  comm::UniqueFd descriptor_;
};

class Supervisor {
 public:
  Supervisor(const SupervisorOptions& options, std::shared_ptr<SharedMemorySegment> segment)
      : options_(options),
        segment_(std::move(segment)),
        signals_(options.hang_up != nullptr),
        children_(options.ranks, -1),
        is_stopped_(options.ranks) {}

  absl::Status Run(const ChildMain& child_main) {
    if (signals_.descriptor() < 0) {
      return absl::InternalError(absl::StrCat("signalfd: ", std::strerror(errno)));
    }
    Start(child_main);
    while (alive_ > 0) {
      Wait();
      HandleSignals();
      Collect();
      FailWhenAllStayStopped();
      KillWhenDue();
    }
    if (!interrupted_.ok()) return interrupted_;
    if (absl::Status cause = segment_->abort_cause(); !cause.ok()) {
      if (options_.failed) options_.failed(FailureBy(cause));
      return cause;
    }
    // Others go on, which are to stop: the signal stays pending for those. A rank may have got it before it was asked
    // to give way.
    if (have_stopped_ && (IsGivingWay() || has_asked_) && UserSignal() != 0) raise(UserSignal());
    return have_stopped_ ? launch::Interrupted() : absl::OkStatus();
  }

 private:
  void Start(const ChildMain& child_main) {
    const std::vector<launch::Core> allowed = launch::AllowedCores();
    std::vector<std::vector<int>> cores =
        launch::AssignCores(launch::CoresWithout(allowed, options_.avoided_cores), options_.ranks);
    if (cores.empty()) cores = launch::AssignCores(allowed, options_.ranks);
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t parent = getpid();
    for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
      const pid_t child = fork();
      if (child == 0) {
        RunChild(child_main, rank, parent, cores.empty() ? std::vector<int>() : cores[rank]);
      }
      if (child < 0) {
        Fail(rank, absl::ResourceExhaustedError(absl::StrCat(
                       "cannot be started: fork: ", std::strerror(errno),
                       "; expected room for one more process; raise the limit on processes (ulimit -u, the "
                       "container's pids limit) or on memory, or start fewer ranks")));
        return;
      }
      children_[rank] = child;
      ++alive_;
    }
  }

  // No exception may pass: the frames above belong to the supervisor's run, and would clean up after it.
  absl::Status Call(const ChildMain& child_main, uint32_t rank) const {
    try {
      return child_main(rank, segment_);
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    }
  }

  [[noreturn]] void RunChild(const ChildMain& child_main, uint32_t rank, pid_t parent, const std::vector<int>& cores) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the supervisor died before the line above
    signals_.RestoreForRank();
    if (!cores.empty()) launch::BindToCores(cores);
    const absl::Status status = Call(child_main, rank);
    if (!EndsWell(status)) segment_->Abort(options_.first_rank + rank, status);
    std::cout.flush();
    std::fflush(nullptr);
    _exit(status.ok() ? 0 : launch::IsInterrupted(status) ? kExitInterrupted : 1);
  }

  Failure FailureBy(const absl::Status& cause) const {
    Failure failure{.cause = cause, .rank = segment_->abort_rank(), .stop_signal = UserSignal()};
    for (uint32_t rank = 0; rank < options_.ranks; ++rank)
      failure.steps_begun = std::max(failure.steps_begun, segment_->flag(rank).begun.load());
    return failure;
  }

  // The signal with which a user asked to end the run; 0 without one.
  int UserSignal() const { return IsGivingWay() ? segment_->second_stop_signal() : segment_->stop_signal(); }

  // The ranks have been asked to stop, so that others go on.
  bool IsGivingWay() const { return segment_->stop_signal() == launch::kGiveWaySignal; }

  // Until a signal arrives or something is due.
  void Wait() {
    const absl::Time due = std::min({kill_at_, end_at_, continue_at_});
    int milliseconds = -1;
    if (due != absl::InfiniteFuture()) {
      const int64_t left = absl::ToInt64Milliseconds(due - SteadyNow());
      milliseconds = static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)) + 1;
    }
    pollfd descriptor = {signals_.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, milliseconds);
  }

  void HandleSignals() {
    signalfd_siginfo info;
    while (read(signals_.descriptor(), &info, sizeof(info)) == sizeof(info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      if (signal == SIGHUP) {
        GiveWayIfAsked();
        continue;
      }
      if (options_.stops_between_steps && segment_->is_state_kept() && !IsGivingWay()) continue;
      if (options_.stops_between_steps && !std::exchange(is_stopping_, true)) {
        RequestStop(signal);
        continue;
      }
      if (interrupted_.ok())
        interrupted_ = absl::CancelledError(absl::StrCat("interrupted by ", launch::SignalText(signal)));
      SignalChildren(signal);
      ScheduleKill();
    }
  }

  void GiveWayIfAsked() {
    const bool may_ask = options_.stops_between_steps && segment_->stop_signal() == 0 && !segment_->is_state_kept();
    if (!may_ask || !options_.hang_up()) return;
    has_asked_ = true;
    RequestStop(launch::kGiveWaySignal);
  }

  void Collect() {
    for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
      int status = 0;
      if (children_[rank] <= 0 ||
          waitpid(children_[rank], &status, WNOHANG | WUNTRACED | WCONTINUED) != children_[rank]) {
        continue;
      }
      is_stopped_[rank] = WIFSTOPPED(status);
      CountStopped();
      if (WIFSTOPPED(status) || WIFCONTINUED(status)) continue;
      const pid_t pid = std::exchange(children_[rank], -1);
      --alive_;
      const bool announced = segment_->flag(rank).state.load() == RankState::kDone;
      const bool has_stopped = WIFEXITED(status) && WEXITSTATUS(status) == kExitInterrupted;
      if (announced && (has_stopped || (WIFEXITED(status) && WEXITSTATUS(status) == 0))) {
        have_stopped_ = have_stopped_ || has_stopped;
        end_at_ = std::min(end_at_, SteadyNow() + options_.deadline);
      } else {
        Fail(rank, absl::UnavailableError(absl::StrCat(comm::DescribeExit(status), ", process ", pid)));
      }
    }
  }

  absl::Duration LongestStop() const {
    return options_.deadline + (options_.report_death ? kOtherHosts : absl::ZeroDuration());
  }

  // While a rank runs it misses the others within its deadline; when none does this process has to.
  void CountStopped() {
    const bool are_all_stopped = alive_ == options_.ranks && std::ranges::all_of(is_stopped_, std::identity());
    if (!are_all_stopped) {
      continue_at_ = absl::InfiniteFuture();
    } else if (continue_at_ == absl::InfiniteFuture()) {
      continue_at_ = SteadyNow() + LongestStop();
    }
  }

  void FailWhenAllStayStopped() {
    const absl::Time now = SteadyNow();
    if (now < continue_at_) return;
    // This process was stopped itself, as by ^Z: the ranks go on when it does.
    if (now > continue_at_ + kOwnStop) {
      continue_at_ = now + LongestStop();
      return;
    }
    continue_at_ = absl::InfiniteFuture();
    Fail(0, absl::DeadlineExceededError(absl::StrCat(
                "is stopped by a signal, and so are all ranks that this launcher has started, for ",
                absl::FormatDuration(LongestStop()), "; continue them sooner (SIGCONT), or raise --deadline")));
  }

  // The cause counts unless the job has one already, as it has when the rank reported its error itself.
  void Fail(uint32_t rank, const absl::Status& cause) {
    const bool is_first = segment_->Abort(options_.first_rank + rank, cause);
    const bool is_told =
        is_first && options_.report_death && !HasMet() && options_.report_death(options_.first_rank + rank, cause);
    ScheduleKill(is_told ? kGraceOfMeetings : kGrace);
  }

  bool HasMet() const {
    for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
      if (segment_->flag(rank).state.load() != RankState::kAbsent) return true;
    }
    return false;
  }

  void ScheduleKill(absl::Duration grace = kGrace) { kill_at_ = std::min(kill_at_, SteadyNow() + grace); }

  void KillWhenDue() {
    if (SteadyNow() >= end_at_ && alive_ > 0) {
      end_at_ = absl::InfiniteFuture();
      for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
        if (children_[rank] <= 0) continue;
        Fail(rank,
             absl::DeadlineExceededError(absl::StrCat("did not end within ", absl::FormatDuration(options_.deadline),
                                                      " after the first rank had ended")));
      }
    }
    if (SteadyNow() < kill_at_) return;
    SignalChildren(SIGKILL);
    kill_at_ = absl::InfiniteFuture();
  }

  // Through the memory that ranks of one host share; those that talk over TCP read the signal and tell each other.
  void RequestStop(int signal) {
    segment_->RequestStop(signal);
    for (pid_t child : children_) {
      if (child > 0) sigqueue(child, StopRequestSignal(), {.sival_int = signal});
    }
  }

  void SignalChildren(int signal) {
    for (pid_t child : children_) {
      if (child > 0) kill(child, signal);
    }
  }

  const SupervisorOptions& options_;
  std::shared_ptr<SharedMemorySegment> segment_;
  BlockedSignals signals_;
  std::vector<pid_t> children_;  // -1 once collected
  std::vector<bool> is_stopped_;
  uint32_t alive_ = 0;
  absl::Status interrupted_;
  bool has_asked_ = false;     // the ranks to give way
  bool is_stopping_ = false;   // the user has asked the ranks to stop
  bool have_stopped_ = false;  // one has said that they did
  absl::Time kill_at_ = absl::InfiniteFuture();
  absl::Time end_at_ = absl::InfiniteFuture();
  absl::Time continue_at_ = absl::InfiniteFuture();  // for ranks that are all stopped
};

}  // namespace

absl::Status Supervise(const SupervisorOptions& options, const ChildMain& child_main) {
  auto segment = SharedMemorySegment::Create(options.ranks, options.window_bytes);
  if (!segment.ok()) return segment.status();
  return Supervisor(options, *std::move(segment)).Run(child_main);
}

}  // namespace sgd::process
