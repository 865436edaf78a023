// Runs a function as every rank of a job, ranks being threads or forked processes over one shared
// memory segment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/comm/one_host/shared_memory_communicator.h"

namespace sgd::comm {

using RankFunction = std::function<void(SharedMemoryCommunicator& communicator)>;

// A way to run ranks; expectations inside the function count in both.
struct RankRunner {
  std::string name;
  void (*run)(uint32_t ranks, uint64_t window_bytes, const RankFunction& function);
};

void RunAsThreads(uint32_t ranks, uint64_t window_bytes, const RankFunction& function);
void RunAsProcesses(uint32_t ranks, uint64_t window_bytes, const RankFunction& function);

// Whether ranks can be forked: not under the thread sanitizer.
bool CanRunAsProcesses();

}  // namespace sgd::comm
