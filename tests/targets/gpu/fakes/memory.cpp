// aligned_alloc with a list of what is live.
#include "tests/targets/gpu/fakes/memory.h"

#include <stdlib.h>

#include <cstring>
#include <iterator>

#include "tests/targets/gpu/fakes/counts.h"

namespace sgd::emulated {

Memory& Memory::Get() {
  static Memory& memory = *new Memory;
  return memory;
}

Memory::Memory() {
  const char* limit = getenv("SGD_EMULATED_MEMORY");
  total_ = limit == nullptr ? uint64_t{4} << 30 : strtoull(limit, nullptr, 10);
}

uint64_t Memory::Allocate(uint64_t bytes) {
  constexpr uint64_t kAlignment = 512;  // as the driver's
  const uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::lock_guard lock(mutex_);
  if (rounded > total_ - used_) return 0;
  void* memory = aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return 0;
  std::memset(memory, 0xa5, rounded);  // never zero by chance
  CountAllocation();
  live_[reinterpret_cast<uint64_t>(memory)] = bytes;
  used_ += rounded;
  CountBytes(used_);
  return reinterpret_cast<uint64_t>(memory) | kDeviceBit;
}

bool Memory::Free(uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto found = live_.find(address & ~kDeviceBit);
  if ((address & kDeviceBit) == 0 || found == live_.end()) return false;
  used_ -= (found->second + 511) / 512 * 512;
  free(reinterpret_cast<void*>(found->first));
  live_.erase(found);
  return true;
}

std::byte* Memory::Resolve(uint64_t address, uint64_t bytes) {
  if ((address & kDeviceBit) == 0) return reinterpret_cast<std::byte*>(address);
  const uint64_t begin = address & ~kDeviceBit;
  std::lock_guard lock(mutex_);
  auto at = live_.upper_bound(begin);
  if (at == live_.begin()) return nullptr;
  --at;
  const bool is_inside = begin - at->first <= at->second && bytes <= at->second - (begin - at->first);
  return is_inside ? reinterpret_cast<std::byte*>(begin) : nullptr;
}

void* Memory::AllocatePinned(uint64_t bytes) {
  void* memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::lock_guard lock(mutex_);
  CountAllocation();
  if (memory != nullptr) pinned_[reinterpret_cast<uint64_t>(memory)] = bytes;
  return memory;
}

bool Memory::FreePinned(void* memory) {
  std::lock_guard lock(mutex_);
  if (pinned_.erase(reinterpret_cast<uint64_t>(memory)) == 0) return false;
  free(memory);
  return true;
}

bool Memory::IsPageable(uint64_t address, uint64_t bytes) {
  if ((address & kDeviceBit) != 0) return false;
  std::lock_guard lock(mutex_);
  auto at = pinned_.upper_bound(address);
  if (at == pinned_.begin()) return true;
  --at;
  return address - at->first > at->second || bytes > at->second - (address - at->first);
}

uint64_t Memory::used() {
  std::lock_guard lock(mutex_);
  return used_;
}

uint64_t Memory::allocations() {
  std::lock_guard lock(mutex_);
  return live_.size();
}

}  // namespace sgd::emulated
