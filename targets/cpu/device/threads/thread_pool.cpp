// Threads wait by spinning for a while and then sleep in the kernel (std::atomic's wait is a
// futex).
#include "targets/cpu/device/threads/thread_pool.h"

#include <immintrin.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::cpu {
namespace {

// Longer than the gap between two launches, and than a sleeper needs to wake up; short against
// the time slice of another process that wants the core.
constexpr int64_t kSpinNanoseconds = 50'000;
constexpr int kPausesPerLook = 16;
constexpr int kYields = 2;

int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Sleeps until `value` is not `old` any more.
void SleepWhile(std::atomic<int32_t>& value, int32_t old) {
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

void BindToCore(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);  // a core that vanished meanwhile is no error
}

uint64_t ShareOf(uint32_t run, IndexRange chunks) { return uint64_t{run} << 32 | chunks.begin << 16 | chunks.end; }

}  // namespace

ThreadPool::ThreadPool(uint32_t threads, bool shares_cores)
    : shares_cores_(shares_cores), shares_(std::make_unique<Share[]>(threads)) {}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::Start(uint32_t threads, std::span<const int> cores,
                                                              bool shares_cores) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads, shares_cores));
  for (uint32_t thread = 1; thread < threads; ++thread) {
    const int core = thread < cores.size() ? cores[thread] : -1;
    absl::StatusOr<std::thread> worker =
        SpawnThread(absl::StrCat("kernels (", thread + 1, " of ", threads, ")"), [self = pool.get(), thread, core] {
          if (core >= 0) BindToCore(core);
          self->Work(thread);
        });
    if (!worker.ok()) return worker.status();
    pool->workers_.push_back(*std::move(worker));
  }
  return pool;
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  stopping_.store(true, std::memory_order_release);
  for (uint32_t thread = 1; thread < size(); ++thread) {
    shares_[thread].alarm.fetch_add(1, std::memory_order_release);
    shares_[thread].alarm.notify_one();
  }
  for (std::thread& worker : workers_) worker.join();
}

uint64_t ThreadPool::progress() const {
  uint64_t parts = 0;
  for (uint32_t thread = 0; thread < size(); ++thread) parts += shares_[thread].parts.load(std::memory_order_relaxed);
  return parts;
}

void ThreadPool::Run(uint32_t active, uint32_t chunks, Function function, void* context) {
  active = std::min(active, chunks);
  if (active <= 1) {
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) function(context, chunk, 0);
    return;
  }
  function_ = function;
  context_ = context;
  ++run_;
  unfinished_.store(static_cast<int32_t>(chunks), std::memory_order_relaxed);
  current_.store(uint64_t{run_} << 32 | active, std::memory_order_release);
  for (uint32_t thread = 0; thread < active; ++thread) {
    shares_[thread].left.store(ShareOf(run_, PartOf(chunks, active, thread)), std::memory_order_release);
  }
  for (uint32_t thread = 1; thread < active; ++thread) {
    shares_[thread].alarm.fetch_add(1, std::memory_order_release);
    shares_[thread].alarm.notify_one();
  }
  RunChunks(run_, active, 0);
  for (int32_t left = unfinished_.load(std::memory_order_acquire); left != 0;
       left = unfinished_.load(std::memory_order_acquire)) {
    WaitWhile(unfinished_, left);
  }
}

// Returns when `value` is not `old` any more.
void ThreadPool::WaitWhile(std::atomic<int32_t>& value, int32_t old) const {
  if (shares_cores_) {
    // Whoever has work may run before this thread looks again.
    for (int i = 0; i < kYields && value.load(std::memory_order_acquire) == old; ++i) sched_yield();
    return SleepWhile(value, old);
  }
  const int64_t end = Now() + kSpinNanoseconds;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      _mm_pause();
    }
  } while (Now() < end);
  SleepWhile(value, old);
}

void ThreadPool::Work(uint32_t thread) {
  int32_t seen = 0;
  while (true) {
    WaitWhile(shares_[thread].alarm, seen);
    seen = shares_[thread].alarm.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    // The run that a late thread finds may be over, or the next one, which may not need it.
    const uint64_t current = current_.load(std::memory_order_acquire);
    const uint32_t active = static_cast<uint32_t>(current);
    if (thread < active) RunChunks(static_cast<uint32_t>(current >> 32), active, thread);
  }
}

void ThreadPool::RunChunks(uint32_t run, uint32_t active, uint32_t thread) {
  for (uint32_t offset = 0; offset < active; ++offset) {
    Share& share = shares_[(thread + offset) % active];
    uint32_t chunk = 0;
    while (Take(share, run, chunk)) {
      function_(context_, chunk, thread);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    }
  }
}

// Success means that the run has an unfinished chunk, so that its description stays until then.
bool ThreadPool::Take(Share& share, uint32_t run, uint32_t& chunk) {
  uint64_t left = share.left.load(std::memory_order_acquire);
  while (left >> 32 == run) {
    chunk = static_cast<uint32_t>(left >> 16 & 0xffff);
    if (chunk >= (left & 0xffff)) return false;
    if (share.left.compare_exchange_weak(left, left + 0x10000, std::memory_order_acq_rel)) return true;
  }
  return false;
}

IndexRange PartOf(uint64_t count, uint64_t parts, uint64_t index) {
  const uint64_t size = count / parts;
  const uint64_t larger = count % parts;
  const uint64_t begin = index * size + std::min(index, larger);
  return {begin, begin + size + (index < larger ? 1 : 0)};
}

}  // namespace sgd::cpu
