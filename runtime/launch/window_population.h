// Takes the pages of the ranks' windows on a thread of its own while a launcher does other things.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "runtime/comm/shared_memory_segment.h"

namespace sgd::launch {

// Shared memory seldom gets huge pages, so its first touch is dear: some 0.9 ms a megabyte. What is
// not taken when this object ends, and what failed, is left to the ranks. Its end waits for a few
// megabytes at most; afterwards there is no thread, so that the process may fork.
class WindowPopulation {
 public:
  // `segment` must outlive it.
  explicit WindowPopulation(comm::SharedMemorySegment& segment);
  ~WindowPopulation();
  WindowPopulation(const WindowPopulation&) = delete;
  WindowPopulation& operator=(const WindowPopulation&) = delete;

 private:
  void Work();

  comm::SharedMemorySegment& segment_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sgd::launch
