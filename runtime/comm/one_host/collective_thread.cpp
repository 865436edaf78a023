// A ring of items between one producer and one consumer; both wait by spinning shortly, then by
// std::atomic's wait, which is a futex.
#include "runtime/comm/one_host/collective_thread.h"

#include <utility>

#include "runtime/comm/shared_memory/spin.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::comm {
namespace {

// About the time that a sleeper needs to wake up.
constexpr int64_t kSpinNanoseconds = 20'000;
constexpr int kPausesPerLook = 16;

bool IsPast(uint32_t count, uint32_t ticket) { return static_cast<int32_t>(count - ticket) > 0; }

// Returns when `count` is past `ticket`.
void WaitUntilPast(const std::atomic<uint32_t>& count, uint32_t ticket, int64_t spin_nanoseconds) {
  const int64_t end = SteadyNanoseconds() + spin_nanoseconds;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (IsPast(count.load(std::memory_order_acquire), ticket)) return;
      Pause();
    }
  } while (SteadyNanoseconds() < end);
  for (uint32_t seen = count.load(std::memory_order_acquire); !IsPast(seen, ticket);
       seen = count.load(std::memory_order_acquire)) {
    count.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace

CollectiveThread::CollectiveThread(Run run, bool has_own_core)
    : run_(std::move(run)), spin_nanoseconds_(has_own_core ? kSpinNanoseconds : 0) {}

absl::StatusOr<std::unique_ptr<CollectiveThread>> CollectiveThread::Start(Run run, bool has_own_core) {
  std::unique_ptr<CollectiveThread> self(new CollectiveThread(std::move(run), has_own_core));
  absl::StatusOr<std::thread> thread = SpawnThread("collectives", [borrowed = self.get()] { borrowed->Work(); });
  if (!thread.ok()) return thread.status();
  self->thread_ = *std::move(thread);
  return self;
}

CollectiveThread::~CollectiveThread() {
  if (!thread_.joinable()) return;
  // Stopping the thread takes no entry among the items.
  stopping_.store(true, std::memory_order_relaxed);
  enqueued_.fetch_add(1, std::memory_order_release);
  enqueued_.notify_one();
  thread_.join();
}

uint32_t CollectiveThread::Enqueue(uint32_t index, absl::Duration timeout) {
  const uint32_t ticket = enqueued_.load(std::memory_order_relaxed);
  WaitUntilPast(ended_, ticket - kCapacity, spin_nanoseconds_);
  items_[ticket % kCapacity] = {index, timeout};
  enqueued_.store(ticket + 1, std::memory_order_release);
  enqueued_.notify_one();
  return ticket;
}

absl::Status CollectiveThread::Wait(uint32_t ticket) {
  WaitUntilPast(ended_, ticket, spin_nanoseconds_);
  const bool failed = has_failed_.load(std::memory_order_acquire) && !IsPast(first_failed_, ticket);
  return failed ? error_ : absl::OkStatus();
}

void CollectiveThread::Work() {
  for (uint32_t ticket = 0;; ++ticket) {
    WaitUntilPast(enqueued_, ticket, spin_nanoseconds_);
    const bool is_last =
        stopping_.load(std::memory_order_relaxed) && ticket + 1 == enqueued_.load(std::memory_order_acquire);
    if (is_last) return;
    if (error_.ok()) {
      const Item& item = items_[ticket % kCapacity];
      if (absl::Status status = run_(item.index, item.timeout); !status.ok()) {
        first_failed_ = ticket;
        error_ = std::move(status);
        has_failed_.store(true, std::memory_order_release);
      }
    }
    ended_.store(ticket + 1, std::memory_order_release);
    ended_.notify_one();
  }
}

}  // namespace sgd::comm
