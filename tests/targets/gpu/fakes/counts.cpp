// One object, whose end is the process's.
#include "tests/targets/gpu/fakes/counts.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>

namespace sgd::emulated {
namespace {

struct Counts {
  std::atomic<uint64_t> allocations{0}, calls{0}, most_bytes{0};

  ~Counts() { Write(); }
  void Write() const {
    if (const char* path = getenv("SGD_EMULATED_COUNTS"))
      std::ofstream(path) << "{\"allocations\": " << allocations << ", \"calls\": " << calls
                          << ", \"most_bytes\": " << most_bytes << "}\n";
  }
};

Counts counts;

}  // namespace

void CountAllocation() { ++counts.allocations; }
void CountCall() { ++counts.calls; }
void CountGraph() {
  static std::atomic<int> graphs{0};
  const char* folder = getenv("SGD_EMULATED_REPLAYS");
  if (++graphs == 2 && folder != nullptr) std::ofstream(std::string(folder) + "/" + std::to_string(getpid())) << "\n";
}
// Written at once: ranks that were forked leave without an end.
void CountBytes(uint64_t used) {
  if (used <= counts.most_bytes) return;
  counts.most_bytes = used;
  counts.Write();
}

}  // namespace sgd::emulated
