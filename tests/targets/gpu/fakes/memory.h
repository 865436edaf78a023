// The memory of the emulated GPU: ordinary memory behind addresses that the host cannot use by mistake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace sgd::emulated {

// Set in every address of device memory: using one as a pointer of this process is a fault.
inline constexpr uint64_t kDeviceBit = uint64_t{1} << 62;

class Memory {
 public:
  // One for the process, whatever the number of emulated GPUs. SGD_EMULATED_MEMORY bytes, by default 4 GiB.
  static Memory& Get();

  // 0 when there is not that much.
  uint64_t Allocate(uint64_t bytes);
  // Whether `address` was an allocation's begin.
  bool Free(uint64_t address);

  // The bytes behind a device address, or the pointer itself where it is none; null unless all `bytes` are in one live
  // allocation.
  std::byte* Resolve(uint64_t address, uint64_t bytes);

  // Memory of the host that copies run beside it; null when there is not that much.
  void* AllocatePinned(uint64_t bytes);
  bool FreePinned(void* memory);
  // Whether the address is the host's and not pinned.
  bool IsPageable(uint64_t address, uint64_t bytes);

  // Counts a copy of `bytes` between these addresses where one is the host's and one the device's.
  void CountCrossing(uint64_t target, uint64_t source, uint64_t bytes) {
    if (((target ^ source) & kDeviceBit) != 0) crossed_ += bytes;
  }
  uint64_t crossed() const { return crossed_; }

  uint64_t total() const { return total_; }
  uint64_t used();
  uint64_t allocations();

 private:
  Memory();

  uint64_t total_;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> live_;    // address, without kDeviceBit, to size
  std::map<uint64_t, uint64_t> pinned_;  // address to size
  uint64_t used_ = 0;
  std::atomic<uint64_t> crossed_ = 0;  // bytes
};

}  // namespace sgd::emulated
