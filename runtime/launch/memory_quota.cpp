// Control groups of version 2.
#include "runtime/launch/memory_quota.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace sgd::launch {

uint64_t HostMemoryBytes() {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace sgd::launch
