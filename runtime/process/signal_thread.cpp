// poll over a signalfd.
#include "runtime/process/signal_thread.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/interruption.h"
#include "runtime/process/leave.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::process {

absl::StatusOr<std::unique_ptr<SignalThread>> SignalThread::Start(OnSignal on_signal) {
  std::unique_ptr<SignalThread> self(new SignalThread(std::move(on_signal)));
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : kStopSignals) sigaddset(&signals, signal);
  sigaddset(&signals, StopRequestSignal());
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  self->signals_ = comm::UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  self->stop_ = comm::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->signals_.valid() || !self->stop_.valid()) {
    return absl::InternalError(absl::StrCat("signals: no descriptor: ", std::strerror(errno)));
  }
  absl::StatusOr<std::thread> thread = SpawnThread("signals", [borrowed = self.get()] { borrowed->Run(); });
  if (!thread.ok()) return thread.status();
  self->thread_ = *std::move(thread);
  return self;
}

SignalThread::~SignalThread() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

void SignalThread::Run() {
  int count = 0;
  while (true) {
    pollfd descriptors[] = {{stop_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    if (poll(descriptors, 2, -1) <= 0) continue;
    if (descriptors[0].revents != 0) return;
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      if (static_cast<int>(info.ssi_signo) == StopRequestSignal()) {
        on_signal_(info.ssi_int, 1);
      } else {
        on_signal_(static_cast<int>(info.ssi_signo), ++count);
      }
    }
  }
}

absl::StatusOr<std::unique_ptr<SignalThread>> TakeSignals(RankSignals reactions) {
  return SignalThread::Start([reactions = std::move(reactions)](int signal, int count) {
    if (reactions.stops && count == 1) return reactions.request_stop(signal);
    if (reactions.stops && reactions.is_state_kept()) return;
    LeaveAtOnce(absl::CancelledError(absl::StrCat("interrupted by ", launch::SignalText(signal))));
  });
}

}  // namespace sgd::process
