// Windows are taken a part at a time, the first part of each, then the second, so that all ranks
// have equally much left. Where cores are few or far apart, it takes nothing.
#include "runtime/launch/window_population.h"

#include <algorithm>
#include <system_error>

#include "runtime/launch/core_assignment.h"

namespace sgd::launch {
namespace {

constexpr uint64_t kPart = uint64_t{2} << 20;

}  // namespace

WindowPopulation::WindowPopulation(comm::SharedMemorySegment& segment) : segment_(segment) {
  // With one core it would delay its creator. Pages belong to the memory of the rank's cores, which
  // is only sure to be this thread's where there is one.
  const std::vector<Core> cores = AllowedCores();
  if (cores.size() < 2 || CountNodes(cores) > 1 || segment.window_bytes() < kPart) return;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    // No more threads: the ranks take their pages themselves.
  }
}

WindowPopulation::~WindowPopulation() {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
}

void WindowPopulation::Work() {
  const uint64_t bytes = segment_.window_bytes();
  for (uint64_t begin = 0; begin < bytes; begin += kPart) {
    for (uint32_t rank = 0; rank < segment_.ranks(); ++rank) {
      if (stopping_.load() || !segment_.PopulateWindow(rank, begin, std::min(kPart, bytes - begin)).ok()) return;
    }
  }
}

}  // namespace sgd::launch
