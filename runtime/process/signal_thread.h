// A thread that takes SIGINT, SIGTERM and SIGUSR1 for the whole process, so that what is done about them may wait and
// allocate.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/statusor.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::process {

// Those by which users and schedulers ask ranks to stop.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGUSR1};

// By which a supervisor passes on to its ranks, with the user's signal as its value, that they are to stop: a terminal
// sends them the user's signal itself as well, and it must not count twice.
inline int StopRequestSignal() { return SIGRTMIN + 3; }

class SignalThread {
 public:
  // Called on the thread with a signal and how many have come so far, supervisors' requests not counted: these come as
  // first ones.
  using OnSignal = std::function<void(int signal, int count)>;

  // Blocks the signals for this thread and those that it starts. ResourceExhausted without a thread.
  static absl::StatusOr<std::unique_ptr<SignalThread>> Start(OnSignal on_signal);
  // Signals that come later stay pending: the process is about to end.
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  explicit SignalThread(OnSignal on_signal) : on_signal_(std::move(on_signal)) {}
  void Run();

  OnSignal on_signal_;
  comm::UniqueFd signals_;
  comm::UniqueFd stop_;  // eventfd
  std::thread thread_;
};

// Reactions of a rank to signals.
struct RankSignals {
  bool stops = false;  // whether the first one stops the ranks between two steps
  std::function<void(int signal)> request_stop;
  std::function<bool()> is_state_kept;  // see Control::MarkStateKept
};

// Handles a rank's signals: with `stops`, the first one calls `request_stop`, and later ones are ignored once the state
// is kept. Others end the rank by LeaveAtOnce.
absl::StatusOr<std::unique_ptr<SignalThread>> TakeSignals(RankSignals reactions);

}  // namespace sgd::process
