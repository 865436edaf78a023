// Runs GPU kernels on the host: what sgdc makes for the architecture `emulated`, which is the LLVM IR that the back end
// turns into PTX for a real one. Each thread of a block is a fibre; the threads of a block go from one barrier or
// exchange to the next together, so that a missing barrier, a thread that does not come to one, a read of shared memory
// that nothing wrote, or an order that only luck provides shows in the results. Every access is judged too: alignment,
// bounds, and two threads at one byte with no barrier between are errors, as are lanes that an exchange forgets.
#ifndef SGD_TESTS_TARGETS_GPU_EMULATOR_KERNEL_EMULATOR_H
#define SGD_TESTS_TARGETS_GPU_EMULATOR_KERNEL_EMULATOR_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tests/targets/gpu/emulator/access_checker.h"
#include "tests/targets/gpu/emulator/warp_accesses.h"

namespace sgd::emulator {

// Blocks and, between two barriers, threads from the first to the last or the other way round: what a GPU leaves open.
enum class Order { kForward, kBackward };

struct Grid {
  uint32_t first_block = 0;  // a GPU begins at 0
  uint32_t blocks = 1;
  uint32_t threads = 1;
};

// Which accesses are judged: all, or, in a tenth of the time, those of shared memory and of several elements at once.
enum class Judging { kAll, kSome };

// The global memory that a launch may touch.
struct Memory {
  std::span<const Extent> extents;  // none: not known, and not judged
  bool tracks_order = false;        // whether threads meet there is judged too, which takes 28 times the memory
  WarpAccesses* counts = nullptr;   // where accesses that are judged are counted
};

class KernelModule {
 public:
  // Null, with a message, for a text that is no such module.
  static std::unique_ptr<KernelModule> Load(const std::string& text, std::string* error,
                                            Judging judging = Judging::kSome);
  ~KernelModule();

  bool Has(const std::string& symbol) const;

  // Runs a kernel with parameters of 64 bits. Not from two threads at a time. Empty when all is well, else what a GPU
  // would hang on or refuse, or what it would leave to chance.
  std::string Launch(const std::string& symbol, const Grid& grid, std::span<const uint64_t> parameters,
                     Order order = Order::kForward, const Memory& memory = {});

 private:
  struct Contents;
  explicit KernelModule(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace sgd::emulator

#endif
