// A fixed team of threads that runs one function at a time on all of them; starting it allocates
// nothing and takes no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace sgd::cpu {

// Work is divided by the caller as a function of the thread's index, always in the same way, so
// threads never race for parts.
class ThreadPool {
 public:
  // `threads` (at least 1) counts the thread that calls Run; the others start here and end with the
  // pool.
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  // Calls function(context, thread) for thread = 0 (the caller's) to active - 1, at once, and
  // returns when all have returned. Not reentrant; one caller at a time. `active` is between 1 and
  // size().
  using Function = void (*)(void* context, uint32_t thread);
  void Run(uint32_t active, Function function, void* context);

  // The same for a callable `body(thread)`.
  template <typename Body>
  void Run(uint32_t active, Body&& body) {
    Run(
        active,
        [](void* context, uint32_t thread) {
          (*static_cast<std::remove_reference_t<Body>*>(context))(thread);
        },
        &body);
  }

 private:
  void Work(uint32_t thread);

  Function function_ = nullptr;
  void* context_ = nullptr;
  uint32_t active_ = 0;
  bool stopping_ = false;
  // A new value starts the work described above. Aligned apart: workers read the one while they
  // write the other.
  alignas(64) std::atomic<int32_t> generation_{0};
  alignas(64) std::atomic<int32_t> running_{0};  // workers that have not finished yet
  std::vector<std::thread> workers_;
};

// Part `index` of `parts` nearly equal ones of [0, count): the first ones are the larger.
struct IndexRange {
  uint64_t begin;
  uint64_t end;
};
IndexRange PartOf(uint64_t count, uint64_t parts, uint64_t index);

}  // namespace sgd::cpu
