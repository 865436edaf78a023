// Polls one pidfd per peer. A pidfd is readable as soon as the process has ended, whatever its
// parent is.
#include "runtime/comm/shared_memory/watcher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::comm {
namespace {

// The kernel's struct pidfd_info in its first published form (64 bytes); Debian 12's headers do not
// have it.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];
  int32_t exit_code;
};
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr int kBeatMilliseconds = 100;  // others take a rank for stopped after a second

// The wait status of a process that is not a child: Linux 6.15 tells it once the parent has
// collected the process, so this looks a few times within a few milliseconds.
std::optional<int> WaitStatusOf(int process) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    PidfdInfo info = {};
    info.mask = kPidfdInfoExit;
    if (ioctl(process, _IOWR(0xFF, 11, PidfdInfo), &info) != 0) return std::nullopt;
    if (info.mask & kPidfdInfoExit) return info.exit_code;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return std::nullopt;
}

}  // namespace

std::string DescribeExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("killed by signal ", signal, " (", strsignal(signal), ")");
  }
  return absl::StrCat("left with exit code ", WEXITSTATUS(wait_status));
}

Watcher::Watcher(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, WatcherOptions options)
    : segment_(std::move(segment)), rank_(rank), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<Watcher>> Watcher::Start(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank,
                                                        WatcherOptions options) {
  std::unique_ptr<Watcher> watcher(new Watcher(std::move(segment), rank, std::move(options)));
  if (absl::Status status = watcher->Open(); !status.ok()) return status;
  absl::StatusOr<std::thread> thread =
      SpawnThread("the watcher of the other ranks", [self = watcher.get()] { self->Run(); });
  if (!thread.ok()) return thread.status();
  watcher->thread_ = *std::move(thread);
  return watcher;
}

absl::Status Watcher::Open() {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid()) {
    return absl::InternalError(absl::StrCat("watcher: eventfd: ", std::strerror(errno)));
  }
  for (uint32_t rank = 0; rank < segment_->ranks(); ++rank) {
    if (rank == rank_) continue;
    const pid_t pid = segment_->flag(rank).pid.load();
    Peer peer{rank, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))};
    if (peer.process.valid()) {
      peers_.push_back(std::move(peer));
    } else if (errno != ESRCH) {
      return absl::InternalError(
          absl::StrCat("watcher: pidfd_open of rank ", rank, " (process ", pid, "): ", std::strerror(errno)));
    } else if (segment_->flag(rank).state.load() != RankState::kDone) {
      return absl::UnavailableError(absl::StrCat("rank ", rank, " (process ", pid, ") has ended during start-up"));
    }
  }
  return absl::OkStatus();
}

Watcher::~Watcher() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  if (segment_->aborted()) ContinuePeers();
}

std::optional<int> Watcher::WaitForEnd() {
  std::vector<pollfd> descriptors = {{stop_.get(), POLLIN, 0}};
  for (const Peer& peer : peers_) descriptors.push_back({peer.process.get(), POLLIN, 0});
  segment_->flag(rank_).beat.store(SteadyNanoseconds());
  TellPlace();
  if (poll(descriptors.data(), descriptors.size(), kBeatMilliseconds) <= 0) return -1;
  if (descriptors[0].revents != 0) return std::nullopt;
  for (size_t i = 1; i < descriptors.size(); ++i) {
    if (descriptors[i].revents != 0) return static_cast<int>(i) - 1;
  }
  return -1;
}

void Watcher::TellPlace() {
  AskedPlace& place = segment_->flag(rank_).place;
  const uint32_t asked = place.asked.load();
  if (asked == place.told.load() || !options_.where) return;
  place.text.Write(options_.where());
  place.told.store(asked);
}

void Watcher::Run() {
  while (true) {
    const std::optional<int> ended = WaitForEnd();
    if (!ended.has_value()) return;
    if (*ended < 0) continue;
    if (HandleEnd(peers_[*ended])) {
      WaitAndGiveUp();
      return;
    }
    peers_.erase(peers_.begin() + *ended);
  }
}

// Returns whether the job is lost.
bool Watcher::HandleEnd(const Peer& peer) {
  if (segment_->flag(peer.rank).state.load() == RankState::kDone) return false;
  const absl::Time report = SteadyNow() + options_.report_delay;
  while (!segment_->aborted() && SteadyNow() < report) absl::SleepFor(absl::Milliseconds(1));
  if (segment_->aborted()) return true;
  const std::optional<int> status = WaitStatusOf(peer.process.get());
  const std::string how = status.has_value() ? DescribeExit(*status) : "died";
  segment_->Abort(peer.rank,
                  absl::UnavailableError(absl::StrCat(how, ", process ", segment_->flag(peer.rank).pid.load())));
  return true;
}

void Watcher::WaitAndGiveUp() {
  const absl::Time end = SteadyNow() + options_.grace;
  pollfd stop = {stop_.get(), POLLIN, 0};
  for (absl::Duration left = options_.grace; left > absl::ZeroDuration(); left = end - SteadyNow()) {
    if (poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1) > 0) return;
  }
  ContinuePeers();
  options_.give_up(segment_->abort_cause());
}

// Harmless to those that run or have ended.
void Watcher::ContinuePeers() {
  for (const Peer& peer : peers_) {
    syscall(SYS_pidfd_send_signal, peer.process.get(), SIGCONT, nullptr, 0);
  }
}

}  // namespace sgd::comm
