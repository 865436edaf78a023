// Anonymous mappings: zeroed by the kernel, given back as a whole. The first touch of a page costs
// some 0.15 ms a megabyte with huge pages and 0.4 without, so it is worth the idle threads' time.
#include "targets/cpu/device/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::cpu {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

// What a thread takes at once: little enough that the calling thread, when it needs the pool, does
// not wait for long.
constexpr uint64_t kPopulatedAtOnce = 2 * kHugePage;
// Smaller arenas are taken as they are touched.
constexpr uint64_t kLeastPopulated = uint64_t{16} << 20;

class MappedArena final : public device::Arena {
 public:
  MappedArena(ThreadPool& pool, void* mapping, uint64_t mapped, std::byte* data, uint64_t size)
      : pool_(pool), mapping_(mapping), mapped_(mapped), data_(data), size_(size) {}
  ~MappedArena() override {
    pool_.Finish();
    munmap(mapping_, mapped_);
  }
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;
  std::byte* data() const override { return data_; }
  uint64_t size() const override { return size_; }

  // Lets the pool's other threads take the pages, at a whole number of chunks.
  void StartPopulating() {
#ifdef MADV_POPULATE_WRITE
    const uint64_t chunks = size_ / kPopulatedAtOnce;
    if (pool_.size() == 1 || size_ < kLeastPopulated || chunks > ThreadPool::kMaxChunks) return;
    pool_.Start(
        pool_.size(), static_cast<uint32_t>(chunks),
        [](void* arena, uint32_t chunk, uint32_t) {
          // Kernels before 5.14 do not know it: pages are then taken as they are touched.
          madvise(static_cast<MappedArena*>(arena)->data_ + chunk * kPopulatedAtOnce, kPopulatedAtOnce,
                  MADV_POPULATE_WRITE);
        },
        this);
#endif
  }

 private:
  ThreadPool& pool_;
  void* mapping_;
  uint64_t mapped_;
  std::byte* data_;
  uint64_t size_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<device::Arena>> AllocateArena(uint64_t bytes, ThreadPool& pool) {
  const bool huge = bytes >= 2 * kHugePage;
  // Room to begin on a huge page; an empty arena still has an address.
  const uint64_t mapped = (bytes == 0 ? 1 : bytes) + (huge ? kHugePage : 0);
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot allocate ", bytes, " bytes of memory: ", std::strerror(errno)));
  }
  std::byte* data = static_cast<std::byte*>(mapping);
  if (huge) {
    data += (kHugePage - reinterpret_cast<uint64_t>(mapping) % kHugePage) % kHugePage;
    madvise(data, bytes, MADV_HUGEPAGE);  // a hint: small pages work as well
  }
  auto arena = std::make_unique<MappedArena>(pool, mapping, mapped, data, bytes);
  arena->StartPopulating();
  return arena;
}

}  // namespace sgd::cpu
