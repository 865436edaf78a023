// Runs GPU kernels on the host: what sgdc makes for the architecture `emulated`, which is the LLVM IR that the back end
// turns into PTX for a real one. Each thread of a block is a fibre; the threads of a block go from one barrier or
// exchange to the next together, so that a missing barrier, a thread that does not come to one, a read of shared memory
// that nothing wrote, or an order that only luck provides shows in the results.
#ifndef SGD_TESTS_TARGETS_GPU_EMULATOR_KERNEL_EMULATOR_H
#define SGD_TESTS_TARGETS_GPU_EMULATOR_KERNEL_EMULATOR_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sgd::emulator {

// Blocks and, between two barriers, threads from the first to the last or the other way round: what a GPU leaves open.
enum class Order { kForward, kBackward };

struct Grid {
  uint32_t first_block = 0;  // a GPU begins at 0
  uint32_t blocks = 1;
  uint32_t threads = 1;
};

class KernelModule {
 public:
  // Null, with a message, for a text that is no such module.
  static std::unique_ptr<KernelModule> Load(const std::string& text, std::string* error);
  ~KernelModule();

  bool Has(const std::string& symbol) const;

  // Runs a kernel with parameters of 64 bits. Not from two threads at a time. Empty when all is well, else what a GPU
  // would hang on or refuse.
  std::string Launch(const std::string& symbol, const Grid& grid, std::span<const uint64_t> parameters,
                     Order order = Order::kForward);

 private:
  struct Contents;
  explicit KernelModule(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace sgd::emulator

#endif
