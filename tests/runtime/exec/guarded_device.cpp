#include "tests/runtime/exec/guarded_device.h"

#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SGD_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif
#endif

namespace sgd::testing {
namespace {

constexpr uint64_t kPage = 4096, kGuard = uint64_t{1} << 20;

uint64_t RoundUp(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// Begins on a page and ends as near to the guard as its alignment lets it.
class GuardedArena final : public device::Arena {
 public:
  GuardedArena(std::byte* mapping, uint64_t bytes) : mapping_(mapping), bytes_(bytes) {
#ifdef SGD_HAS_ADDRESS_SANITIZER
    ASAN_POISON_MEMORY_REGION(data() + bytes, RoundUp(bytes, kPage) - bytes);
#endif
  }
  ~GuardedArena() override {
#ifdef SGD_HAS_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(data(), RoundUp(bytes_, kPage));
#endif
    munmap(mapping_, RoundUp(bytes_, kPage) + 2 * kGuard);
  }
  std::byte* data() const override { return mapping_ + kGuard; }
  uint64_t size() const override { return bytes_; }

 private:
  std::byte* mapping_;
  uint64_t bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<device::Arena>> GuardedDevice::Allocate(uint64_t bytes) {
  const uint64_t inner = RoundUp(bytes, kPage);
  void* mapping = mmap(nullptr, inner + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return absl::ResourceExhaustedError("no memory");
  std::byte* const begin = static_cast<std::byte*>(mapping) + kGuard;
  if (inner > 0 && mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0)
    return absl::ResourceExhaustedError("no memory");
  return std::make_unique<GuardedArena>(static_cast<std::byte*>(mapping), bytes);
}

}  // namespace sgd::testing
