// Threads wait by spinning for some microseconds and then sleep in the kernel (std::atomic's wait
// is a futex).
#include "targets/cpu/device/thread_pool.h"

#include <immintrin.h>

#include <algorithm>

namespace sgd::cpu {
namespace {

// About 20 microseconds: longer than the gap between two launches, shorter than what would starve
// ranks that share cores.
constexpr int kSpins = 1000;

// Returns when `value` is not `old` any more.
void WaitWhile(std::atomic<int32_t>& value, int32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(uint32_t threads) {
  for (uint32_t thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { Work(thread); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(uint32_t active, Function function, void* context) {
  if (active > 1) {
    function_ = function;
    context_ = context;
    active_ = active;
    running_.store(static_cast<int32_t>(workers_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
  }
  function(context, 0);
  if (active <= 1) return;
  for (int32_t left = running_.load(std::memory_order_acquire); left != 0;
       left = running_.load(std::memory_order_acquire)) {
    WaitWhile(running_, left);
  }
}

void ThreadPool::Work(uint32_t thread) {
  int32_t seen = 0;
  while (true) {
    WaitWhile(generation_, seen);
    // Run waits for every worker, so none can miss a generation; wraps around like the counter.
    seen = static_cast<int32_t>(static_cast<uint32_t>(seen) + 1);
    if (stopping_) return;
    if (thread < active_) function_(context_, thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_all();
  }
}

IndexRange PartOf(uint64_t count, uint64_t parts, uint64_t index) {
  const uint64_t size = count / parts;
  const uint64_t larger = count % parts;
  const uint64_t begin = index * size + std::min(index, larger);
  return {begin, begin + size + (index < larger ? 1 : 0)};
}

}  // namespace sgd::cpu
