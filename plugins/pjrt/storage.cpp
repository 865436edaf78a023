// Own memory is aligned to cache lines, as kernels and NumPy's views of it like it.
#include "plugins/pjrt/storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "plugins/pjrt/program.h"
#include "plugins/pjrt/rank_pools.h"
#include "runtime/device/host_transfer.h"

namespace sgd::pjrt {

namespace {

constexpr size_t kAlignment = 64;
// Bytes of the host up to this number cross to a GPU in each run, and larger ones once.
constexpr size_t kCrossingBytes = size_t{1} << 12;

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
  storage->size_ = bytes;
  storage->own_ = *memory;
  storage->bytes_ = {static_cast<std::byte*>(*memory), bytes};
  return std::shared_ptr<Storage>(std::move(storage));
}

std::shared_ptr<Storage> Storage::Resident(std::shared_ptr<Program> program, size_t index, size_t output) {
  auto storage = std::shared_ptr<Storage>(new Storage());
  storage->bytes_ = program->OutputBytes(index, output);
  storage->size_ = storage->bytes_.size();
  storage->index_ = index;
  storage->output_ = output;
  storage->program_ = std::move(program);
  return storage;
}

std::shared_ptr<Storage> Storage::OnGpu(std::shared_ptr<Program> program, size_t index, size_t output,
                                        std::shared_ptr<RankPools> pools, uint32_t gpu,
                                        std::span<const std::byte> device_bytes) {
  auto storage = std::shared_ptr<Storage>(new Storage());
  storage->size_ = device_bytes.size();
  storage->device_ = device_bytes.data();
  storage->pools_ = std::move(pools);
  storage->gpu_ = gpu;
  storage->index_ = index;
  storage->output_ = output;
  storage->program_ = std::move(program);
  return storage;
}

Storage::~Storage() {
  for (Copy& copy : copies_) pools_->gpu(copy.gpu).Give(std::move(copy.block));
  if (own_ != nullptr && !Free().Give(RoundedUp(size_), own_)) std::free(own_);
}

absl::Status Storage::LostError() {
  return absl::FailedPreconditionError(
      "the array is lost: the program that held it has failed since; compute it again");
}

absl::StatusOr<std::span<const std::byte>> Storage::HostBytes() {
  if (bytes_.size() == size_) return bytes_;
  if (device_ == nullptr) return LostError();
  absl::StatusOr<std::shared_ptr<Storage>> host = Allocate(size_);
  if (!host.ok()) return host.status();
  if (absl::Status status = pools_->Read(gpu_, device_, (*host)->bytes_); !status.ok()) return status;
  own_ = std::exchange((*host)->own_, nullptr);
  bytes_ = (*host)->bytes_;
  return bytes_;
}

absl::StatusOr<std::byte*> Storage::BlockOn(device::Device& device, const std::shared_ptr<RankPools>& pools,
                                            uint32_t gpu) {
  absl::StatusOr<std::unique_ptr<device::Arena>> block = pools->gpu(gpu).Take(size_, device);
  if (!block.ok()) return block.status();
  pools_ = pools;
  std::byte* const data = (*block)->data();
  copies_.push_back({gpu, *std::move(block)});
  return absl::StatusOr<std::byte*>(data);
}

absl::StatusOr<std::byte*> Storage::CopyOn(device::Device& device, const std::shared_ptr<RankPools>& pools,
                                           uint32_t gpu) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(copies_, gpu, &Copy::gpu);
  if (known != copies_.end()) return absl::StatusOr<std::byte*>(known->block->data());
  absl::StatusOr<std::byte*> block = BlockOn(device, pools, gpu);
  if (!block.ok()) return block;
  const absl::Status status = device.host_transfer()->Upload(bytes_, *block);
  return status.ok() ? block : status;
}

absl::Status Storage::DetachOn(device::Device& device) {
  if (program_ == nullptr) return absl::OkStatus();
  absl::StatusOr<std::byte*> block = BlockOn(device, pools_, gpu_);
  if (!block.ok()) return block.status();
  device::PreparedThunk copy = device.PrepareCopy(device_, *block, size_);
  if (!copy.ok()) return copy.status();
  device_ = *block;
  program_ = nullptr;  // it lives: it is about to run again
  return (*copy)->Execute();
}

absl::Status Storage::CopyTo(device::Device& device, const std::shared_ptr<RankPools>& pools, uint32_t gpu,
                             std::byte* target) {
  const std::byte* source = device_;
  if (source == nullptr) {
    if (bytes_.size() != size_) return LostError();
    if (size_ <= kCrossingBytes) return device.host_transfer()->Upload(bytes_, target);
    absl::StatusOr<std::byte*> there = CopyOn(device, pools, gpu);
    if (!there.ok()) return there.status();
    source = *there;
  }
  device::PreparedThunk copy = device.PrepareCopy(source, target, size_);
  return copy.ok() ? (*copy)->Execute() : copy.status();
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
  device_ = nullptr;
  if (own_ == nullptr) bytes_ = {};
}

}  // namespace sgd::pjrt
