// One object, whose end is the process's.
#include "tests/targets/gpu/doubles/counts.h"

#include <stdlib.h>

#include <atomic>
#include <cstdint>
#include <fstream>

namespace sgd::emulated {
namespace {

struct Counts {
  std::atomic<uint64_t> allocations{0}, calls{0};

  ~Counts() {
    if (const char* path = getenv("SGD_EMULATED_COUNTS"))
      std::ofstream(path) << "{\"allocations\": " << allocations << ", \"calls\": " << calls << "}\n";
  }
};

Counts counts;

}  // namespace

void CountAllocation() { ++counts.allocations; }
void CountCall() { ++counts.calls; }

}  // namespace sgd::emulated
