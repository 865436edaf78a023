// A fixed team of threads that runs one function at a time over a number of chunks; starting it
// allocates nothing and takes no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::cpu {

// Chunks are made by the caller, so who runs one has no influence on what it computes. Every thread
// begins with a contiguous share of them, and one that is done takes over what others have not
// begun: a thread that the system keeps waiting delays nobody.
class ThreadPool {
 public:
  // `threads` (at least 1) counts the thread that calls Run; the others start here and end with the
  // pool. Thread i is bound to cores[i] (the caller's is not touched); without cores, to none. Where
  // there are fewer cores than threads that want them (`shares_cores`), waiting threads sleep at
  // once instead of looking for work for a while. ResourceExhausted if a thread cannot be started.
  static absl::StatusOr<std::unique_ptr<ThreadPool>> Start(uint32_t threads, std::span<const int> cores = {},
                                                           bool shares_cores = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  // How many parts of results were finished, as bodies report with CountPart; what they do on the way to one counts
  // nothing, so that one that never comes is no progress. From any thread.
  uint64_t progress() const;
  void CountPart(uint32_t thread) {
    std::atomic<uint64_t>& parts = shares_[thread].parts;
    parts.store(parts.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static constexpr uint32_t kMaxChunks = 65535;

  // Calls function(context, chunk, thread) once for each of `chunks` (at most kMaxChunks) chunks,
  // on at most `active` (1 to size()) threads at once, and returns when all have returned. `thread`
  // is below `active`, and no two calls with the same one overlap. Not reentrant; one caller at a
  // time.
  using Function = void (*)(void* context, uint32_t chunk, uint32_t thread);
  void Run(uint32_t active, uint32_t chunks, Function function, void* context);

  // The same for a callable `body(chunk, thread)`.
  template <typename Body>
  void Run(uint32_t active, uint32_t chunks, Body&& body) {
    Run(
        active, chunks,
        [](void* context, uint32_t chunk, uint32_t thread) {
          (*static_cast<std::remove_reference_t<Body>*>(context))(chunk, thread);
        },
        &body);
  }

 private:
  ThreadPool(uint32_t threads, bool shares_cores);

  // A thread's share of the chunks and its alarm. Apart, since all threads write to them.
  struct alignas(64) Share {
    // Run (high 32 bits), next chunk, end of the share: one number, so that a chunk is only ever
    // taken from the run it belongs to.
    std::atomic<uint64_t> left{0};
    alignas(64) std::atomic<int32_t> alarm{0};   // a new value: there is work
    alignas(64) std::atomic<uint64_t> parts{0};  // finished by the thread, which alone writes it
  };

  void WaitWhile(std::atomic<int32_t>& value, int32_t old) const;
  void Stop();
  void Work(uint32_t thread);
  // Runs chunks of that run until none is left to take.
  void RunChunks(uint32_t run, uint32_t active, uint32_t thread);
  bool Take(Share& share, uint32_t run, uint32_t& chunk);

  // The run's description, written before its shares are published.
  Function function_ = nullptr;
  void* context_ = nullptr;
  const bool shares_cores_;
  uint32_t run_ = 0;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Share[]> shares_;
  // Run (high half) and number of threads that may work on it.
  alignas(64) std::atomic<uint64_t> current_{0};
  alignas(64) std::atomic<int32_t> unfinished_{0};  // chunks
  std::vector<std::thread> workers_;
};

// Part `index` of `parts` nearly equal ones of [0, count): the first ones are the larger.
struct IndexRange {
  uint64_t begin;
  uint64_t end;
};
IndexRange PartOf(uint64_t count, uint64_t parts, uint64_t index);

}  // namespace sgd::cpu
