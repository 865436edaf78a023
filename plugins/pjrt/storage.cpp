// Own memory is aligned to cache lines, as kernels and NumPy's views of it like it.
#include "plugins/pjrt/storage.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "plugins/pjrt/program.h"

namespace sgd::pjrt {

namespace {

constexpr size_t kAlignment = 64;

// Large blocks that nobody uses, for the next storage of their size: a step's outputs are as large as those of the step
// before, and pages that the system has to clear take longer than the copy into them.
class FreeBlocks {
 public:
  static constexpr size_t kLeastBytes = size_t{1} << 20;
  static constexpr size_t kMostBytes = size_t{512} << 20;

  void* Take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* block = found->second;
    blocks_.erase(found);
    total_ -= bytes;
    return block;
  }

  // False where it does not take the block.
  bool Give(size_t bytes, void* block) {
    const std::lock_guard lock(mutex_);
    if (bytes < kLeastBytes || total_ + bytes > kMostBytes) return false;
    blocks_.emplace(bytes, block);
    total_ += bytes;
    return true;
  }

 private:
  std::mutex mutex_;
  std::multimap<size_t, void*> blocks_;  // by size
  size_t total_ = 0;
};

FreeBlocks& Free() {
  static auto& blocks = *new FreeBlocks();
  return blocks;
}

size_t RoundedUp(size_t bytes) { return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

absl::StatusOr<void*> AllocateBytes(size_t bytes) {
  const size_t rounded = RoundedUp(bytes);
  void* memory = Free().Take(rounded);
  if (memory == nullptr) memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a buffer of ", bytes, " bytes"));
  return memory;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Storage>> Storage::Allocate(size_t bytes) {
  absl::StatusOr<void*> memory = AllocateBytes(bytes);
  if (!memory.ok()) return memory.status();
  auto storage = absl::WrapUnique(new Storage());
  storage->own_ = *memory;
  storage->bytes_ = {static_cast<std::byte*>(*memory), bytes};
  return std::shared_ptr<Storage>(std::move(storage));
}

std::shared_ptr<Storage> Storage::Resident(std::shared_ptr<Program> program, size_t index, size_t output) {
  auto storage = std::shared_ptr<Storage>(new Storage());
  storage->bytes_ = program->OutputBytes(index, output);
  storage->index_ = index;
  storage->output_ = output;
  storage->program_ = std::move(program);
  return storage;
}

Storage::~Storage() {
  if (own_ != nullptr && !Free().Give(RoundedUp(bytes_.size()), own_)) std::free(own_);
}

absl::Status Storage::Detach() {
  if (program_ == nullptr) return absl::OkStatus();
  absl::StatusOr<void*> memory = AllocateBytes(bytes_.size());
  if (!memory.ok()) return memory.status();
  std::memcpy(*memory, bytes_.data(), bytes_.size());
  own_ = *memory;
  bytes_ = {static_cast<std::byte*>(own_), bytes_.size()};
  // This may be the last that holds the program, whose end forgets the storages that are still in its memory.
  const std::shared_ptr<Program> left = std::move(program_);
  return absl::OkStatus();
}

void Storage::Forget() {
  if (program_ == nullptr) return;
  program_ = nullptr;
  bytes_ = {};
}

}  // namespace sgd::pjrt
