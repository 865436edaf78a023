// Judges every access of a running kernel by what a GPU would make of it: alignment, bounds, order between threads.
#ifndef SGD_TESTS_TARGETS_GPU_EMULATOR_ACCESS_CHECKER_H
#define SGD_TESTS_TARGETS_GPU_EMULATOR_ACCESS_CHECKER_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sgd::emulator {

// Memory that a kernel may touch.
struct Extent {
  uint64_t begin = 0, bytes = 0;
};

// One instruction's access to memory.
struct Access {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t align = 1;
  bool is_write = false;
  bool is_read_only = false;  // a load that says nobody writes there while the kernel runs (ld.global.nc)
};

// Two accesses to a byte, of which one writes, must be by one thread, or by two of one block with a barrier between.
class AccessChecker {
 public:
  // Of global memory: empty, the kernel's bounds and order are not known and not judged. `tracks_order`: also who
  // touched which byte.
  void BeginLaunch(std::span<const Extent> global, bool tracks_order);
  void BeginBlock(uint32_t block, std::span<const Extent> shared);
  // All threads of the block are at a barrier.
  void Barrier() { ++epoch_; }

  // Where `thread` of the block may go on instead of `access.address`: there, unless nothing lies there.
  uint64_t Judge(uint32_t thread, const Access& access, bool is_shared);

  // The first thing a GPU would not take; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  struct Touched {
    uint32_t block = 0, thread = 0, epoch = 0;  // epoch 0: never; no two blocks have the same ones
  };
  struct Byte {
    Touched write, read;           // the last ones
    bool read_by_threads = false;  // several, in read.epoch
    bool read_by_blocks = false;   // several
    bool read_as_read_only = false;
  };
  struct Region {
    Extent extent;
    std::vector<Byte> bytes;  // empty: order is not tracked
  };

  void Track(Byte& byte, const Touched& now, const Access& access, const char* memory);
  void Say(uint32_t thread, const std::string& what);

  std::vector<Region> global_, shared_;
  bool knows_global_ = false;
  uint32_t block_ = 0, epoch_ = 1;
  std::string problem_;
  alignas(64) char nowhere_[256] = {};  // for accesses that have no place
};

}  // namespace sgd::emulator

#endif
