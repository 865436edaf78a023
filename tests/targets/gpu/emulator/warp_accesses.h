// Counts what a GPU's memory does for the accesses of a kernel: the threads of a warp execute an instruction together,
// and what they touch then is moved in sectors of 32 bytes, or, in shared memory, a word from each of 32 banks at a
// time. Slow kernels show without a GPU.
#ifndef SGD_TESTS_TARGETS_GPU_EMULATOR_WARP_ACCESSES_H
#define SGD_TESTS_TARGETS_GPU_EMULATOR_WARP_ACCESSES_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/targets/gpu/emulator/access_checker.h"

namespace sgd::emulator {

// Accesses of the warps of some launches by one instruction.
struct WarpTraffic {
  bool is_shared = false, is_write = false;
  uint32_t bytes = 0;         // of an access
  uint64_t requests = 0;      // how often a warp executed it
  uint64_t transactions = 0;  // sectors that were moved; of shared memory: turns of the banks
  uint64_t least = 0;         // those that the bytes touched would need side by side
};

// Thread t's n-th execution of an instruction belongs to the n-th of its warp: exact where threads of a warp that
// execute it at all do so equally often.
class WarpAccesses {
 public:
  // `kernel`: of the launch that begins.
  void BeginLaunch(const std::string& kernel) { sites_ = &kernels_[kernel]; }
  void Add(uint32_t thread, uint32_t site, const Access& access, bool is_shared);
  void EndBlock();

  // By kernel, and instruction.
  using Sites = std::map<uint32_t, WarpTraffic>;
  const std::map<std::string, Sites>& kernels() const { return kernels_; }

 private:
  static constexpr uint32_t kWarp = 32;
  // The threads of a warp at one instruction, once.
  struct Request {
    uint32_t lanes = 0;  // a bit for each that takes part
    std::array<uint64_t, kWarp> addresses;
  };
  struct Pending {
    std::map<uint32_t, uint32_t> executions;  // by thread
    std::vector<std::vector<Request>> warps;
  };

  std::map<std::string, Sites> kernels_;
  Sites* sites_ = nullptr;
  std::map<uint32_t, Pending> pending_;  // of the block, by instruction
};

// Of all instructions of a kernel for global (or shared) memory together.
WarpTraffic Total(const WarpAccesses::Sites& sites, bool is_shared);

}  // namespace sgd::emulator

#endif
