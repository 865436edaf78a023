// The lock is held while messages are sent, posted and taken, which is short; a thread that computes claims the
// operation and gives the lock back.
#include "runtime/comm/hosts/progress_engine.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/comm/control/wait_note.h"
#include "runtime/comm/shared_memory/spin.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::comm {
namespace {

// Long enough for most waits on a network whose other end has come too.
constexpr int64_t kSpinFor = 100'000;
constexpr int64_t kCheckEvery = 1'000'000;
constexpr int64_t kLongestSleep = 10'000'000;  // with anything in flight: for the job's end and deadlines
constexpr int64_t kLongestRest = 1'000'000'000;
// The engine's thread leaves driving to a thread that has waited so shortly ago: that one will wait again. Messages
// that are in flight when a wait ends wake the engine's thread at once. Otherwise it looks by itself, less and less
// often while the other thread drives: a look every millisecond cost a tenth of an all-reduce where ranks share cores.
constexpr int64_t kHandOver = 1'000'000;
constexpr std::chrono::milliseconds kShortestPark(1), kLongestPark(10);

// A look at the transport is a system call or two: messages of a few chunks need one only.
constexpr int kComputationsPerPass = 4;

UniqueFd EventFd() { return UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

}  // namespace

ProgressEngine::ProgressEngine(HostLinks& links)
    : links_(links), waiter_{.wake = EventFd()}, idler_{.wake = EventFd()} {}

absl::Status ProgressEngine::Start() {
  if (thread_.joinable()) return absl::OkStatus();
  if (!waiter_.wake.valid() || !idler_.wake.valid())
    return absl::ResourceExhaustedError("messages between hosts: no eventfd; raise ulimit -n");
  absl::StatusOr<std::thread> thread = SpawnThread("messages between hosts", [this] { RunThread(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void ProgressEngine::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    may_drive_.notify_one();
    Wake(idler_);
  }
  thread_.join();
}

void ProgressEngine::set_thread_spins(bool spins) {
  const std::unique_lock lock = Lock();
  thread_spins_ = spins;
}

std::unique_lock<std::mutex> ProgressEngine::Lock() {
  wanted_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  return lock;
}

void ProgressEngine::Submit(Operation& operation) {
  const std::unique_lock lock = Lock();
  operation.moved_at_ = SteadyNanoseconds();
  operations_.push_back(&operation);
}

void ProgressEngine::Remove(Operation& operation) {
  std::unique_lock lock = Lock();
  computed_.wait(lock, [&] { return !operation.is_claimed_; });
  std::erase(operations_, &operation);
}

bool ProgressEngine::Pass(std::unique_lock<std::mutex>& lock) {
  const int64_t now = SteadyNanoseconds();
  bool moved = false;
  Operation* computes = nullptr;
  for (Operation* operation : operations_) {
    if (operation->is_claimed_) continue;
    const Advance advance = operation->Step();
    if (advance == Advance::kIdle) continue;
    operation->moved_at_ = now;
    moved = true;
    if (advance == Advance::kComputes && computes == nullptr) computes = operation;
  }
  for (int i = 0; i < kComputationsPerPass && computes != nullptr; ++i) {
    if (!ComputeFor(*computes, lock)) return true;
  }
  return links_.Progress() || moved;
}

bool ProgressEngine::ComputeFor(Operation& operation, std::unique_lock<std::mutex>& lock) {
  operation.is_claimed_ = true;
  lock.unlock();
  operation.Compute();
  lock.lock();
  operation.is_claimed_ = false;
  operation.moved_at_ = SteadyNanoseconds();
  computed_.notify_all();
  return operation.Step() == Advance::kComputes;
}

void ProgressEngine::Kick(Operation& operation, absl::FunctionRef<void()> change) {
  const std::unique_lock lock = Lock();
  change();
  const int64_t now = driven_at_ = SteadyNanoseconds();
  if (!operation.is_claimed_ && operation.Step() != Advance::kIdle) operation.moved_at_ = now;
  BeginHidden(now);
  LeaveToThread();
}

absl::Duration ProgressEngine::hidden_time() {
  const std::unique_lock lock = Lock();
  const int64_t now = SteadyNanoseconds();
  if (hidden_since_ != 0) {
    EndHidden(now);
    BeginHidden(now);
  }
  return absl::Nanoseconds(hidden_);
}

void ProgressEngine::BeginHidden(int64_t now) {
  if (hidden_since_ == 0 && IsAnyInFlight()) hidden_since_ = now;
}

void ProgressEngine::EndHidden(int64_t now) {
  if (hidden_since_ != 0) hidden_ += now - hidden_since_;
  hidden_since_ = 0;
}

// A message that this thread has sent after the other one armed the transport may wake nobody.
void ProgressEngine::LeaveToThread() {
  if (is_parked_) {
    if (IsAnyInFlight()) may_drive_.notify_one();
  } else if (idler_.is_asleep && (IsAnyInFlight() || (links_.transport() != nullptr && !links_.transport()->Arm()))) {
    Wake(idler_);
  }
}

absl::Status ProgressEngine::Wait(Operation& operation, absl::FunctionRef<bool()> is_done, const WaitFor* limits) {
  std::unique_lock lock = Lock();
  const int64_t begin = driven_at_ = SteadyNanoseconds();
  int64_t moved_at = begin, checked_at = begin;
  int yields = 0;
  absl::Status status;
  EndHidden(begin);
  WaitNote note(control(), limits != nullptr ? limits->kind : WaitKind::kCollective);
  is_waited_ = true;
  while (!is_done()) {
    const bool moved = Pass(lock);
    const int64_t now = driven_at_ = SteadyNanoseconds();
    if (now - checked_at > kCheckEvery) {
      checked_at = now;
      CheckAll(now);
      if (limits != nullptr) {
        status = links_.Failure(limits->description);
        const int64_t last = std::max(begin, operation.moved_at_);
        if (!operation.is_claimed_ && now - last > kNoteAfterNanoseconds) {
          AwaitedPeers awaited;
          operation.AppendAwaited(&awaited);
          note.Update(limits->description, awaited.All());
        }
        if (status.ok() && !operation.is_claimed_) status = Overdue(operation, last, now, *limits);
        if (!status.ok() && !is_done()) break;
      }
    }
    if (moved) {
      moved_at = now;
      yields = 0;
    } else if (!is_done() && !Linger(lock, waits_spin_, now - moved_at, &yields)) {
      Sleep(lock, waiter_, SleepLimit(now, /*is_needed=*/true));
    }
  }
  is_waited_ = false;
  driven_at_ = SteadyNanoseconds();
  BeginHidden(driven_at_);
  LeaveToThread();
  return is_done() ? absl::OkStatus() : status;
}

absl::Status ProgressEngine::Overdue(const Operation& operation, int64_t moved_at, int64_t now,
                                     const WaitFor& limits) const {
  const int64_t idle = now - moved_at, timeout = absl::ToInt64Nanoseconds(limits.timeout);
  if (idle <= timeout) return absl::OkStatus();
  AwaitedPeers awaited;
  operation.AppendAwaited(&awaited);
  return OverdueError(limits.description, awaited, control(), links_.placement(), limits.timeout);
}

void ProgressEngine::CheckAll(int64_t now) {
  for (Operation* operation : operations_) {
    if (!operation->is_claimed_) operation->Check(now);
  }
}

bool ProgressEngine::IsAnyInFlight() const {
  return std::ranges::any_of(
      operations_, [](const Operation* operation) { return operation->is_claimed_ || operation->IsInFlight(); });
}

int64_t ProgressEngine::SleepLimit(int64_t now, bool is_needed) const {
  int64_t limit = is_needed ? kLongestSleep : kLongestRest;
  for (const Operation* operation : operations_) {
    if (!operation->is_claimed_) limit = std::min(limit, operation->SleepLimit(now));
  }
  return limit;
}

bool ProgressEngine::Linger(std::unique_lock<std::mutex>& lock, bool spins, int64_t idle, int* yields) {
  const bool spins_now = spins && idle < kSpinFor;
  const bool yields_now = !spins_now && *yields < kYields && SleepLimit(SteadyNanoseconds(), true) < kLongestSleep;
  if (!spins_now && !yields_now) return false;
  lock.unlock();
  if (spins_now) {
    // A thread that spins would take the lock again before the other one has woken up.
    do Pause();
    while (wanted_.load(std::memory_order_relaxed) > 0);
  } else {
    ++*yields;
    sched_yield();
  }
  lock.lock();
  return true;
}

void ProgressEngine::Sleep(std::unique_lock<std::mutex>& lock, Sleeper& own, int64_t nanoseconds) {
  Transport* const transport = links_.transport();
  if (transport != nullptr && !transport->Arm()) return;
  pollfd descriptors[] = {{own.wake.get(), POLLIN, 0},
                          {transport == nullptr ? -1 : transport->descriptor(), POLLIN, 0}};
  const timespec limit = {static_cast<time_t>(nanoseconds / 1'000'000'000), nanoseconds % 1'000'000'000};
  own.is_asleep = true;
  lock.unlock();
  ppoll(descriptors, 2, &limit, nullptr);
  lock.lock();
  own.is_asleep = own.is_woken = false;
  uint64_t count = 0;
  if (read(own.wake.get(), &count, sizeof(count)) < 0) count = 0;
}

void ProgressEngine::Wake(Sleeper& sleeper) {
  if (!sleeper.is_asleep || sleeper.is_woken) return;
  sleeper.is_woken = true;
  const uint64_t one = 1;
  while (write(sleeper.wake.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

// A thread that waits drives, unless it computes for long.
bool ProgressEngine::MayThreadDrive(int64_t now) const {
  const bool is_recent = now - driven_at_ < kHandOver;
  if (is_waited_) return !waiter_.is_asleep && !is_recent;
  return !is_recent || IsAnyInFlight();
}

void ProgressEngine::RunThread() {
  std::unique_lock lock(mutex_);
  int64_t moved_at = 0, checked_at = 0;
  int yields = 0;
  std::chrono::milliseconds park = kShortestPark;
  while (!is_closing_) {
    if (!MayThreadDrive(SteadyNanoseconds())) {
      is_parked_ = true;
      may_drive_.wait_for(lock, park);
      is_parked_ = false;
      park = std::min(2 * park, kLongestPark);
      continue;
    }
    park = kShortestPark;
    const bool moved = Pass(lock);
    if (moved) Wake(waiter_);
    const int64_t now = SteadyNanoseconds();
    if (now - checked_at > kCheckEvery) {
      checked_at = now;
      CheckAll(now);
    }
    if (moved) {
      moved_at = now;
      yields = 0;
      continue;
    }
    const bool is_needed = IsAnyInFlight();
    if (!is_needed) EndHidden(now);
    if (is_closing_ || Linger(lock, thread_spins_ && is_needed, now - moved_at, &yields)) continue;
    Sleep(lock, idler_, SleepLimit(now, is_needed));
  }
}

}  // namespace sgd::comm
