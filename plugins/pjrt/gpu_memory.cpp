// Sizes are rounded up, so that arrays of nearly the same size share blocks.
#include "plugins/pjrt/gpu_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/device/host_transfer.h"

namespace sgd::pjrt {
namespace {

constexpr uint64_t kRounding = 512;

uint64_t Rounded(uint64_t bytes) { return (std::max<uint64_t>(bytes, 1) + kRounding - 1) / kRounding * kRounding; }

}  // namespace

void GpuMemory::Clear(embed::RankPool& pool) {
  auto job = pool.Open(0);
  if (!job.ok()) return;  // a GPU that does not answer frees nothing
  (*job)
      ->Run([this](const embed::Rank&) {
        Trim(0);
        return absl::OkStatus();
      })
      .IgnoreError();
}

std::unique_ptr<device::Arena> GpuMemory::Find(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.find(bytes);
  if (found == free_.end()) return nullptr;
  free_bytes_ -= bytes;
  return std::move(free_.extract(found).mapped());
}

void GpuMemory::Trim(uint64_t most) {
  std::vector<std::unique_ptr<device::Arena>> freed;  // outside of the lock
  const std::lock_guard lock(mutex_);
  while (free_bytes_ > most) {
    const auto largest = std::prev(free_.end());
    free_bytes_ -= largest->first;
    freed.push_back(std::move(free_.extract(largest).mapped()));
  }
}

absl::StatusOr<std::unique_ptr<device::Arena>> GpuMemory::Take(uint64_t bytes, device::Device& device) {
  const uint64_t rounded = Rounded(bytes);
  if (std::unique_ptr<device::Arena> block = Find(rounded)) return block;
  Trim(kMostFree);
  absl::StatusOr<std::unique_ptr<device::Arena>> block = device.Allocate(rounded);
  if (!absl::IsResourceExhausted(block.status())) return block;
  Trim(0);
  return device.Allocate(rounded);
}

void GpuMemory::Give(std::unique_ptr<device::Arena> block) {
  const std::lock_guard lock(mutex_);
  const uint64_t bytes = block->size();
  free_bytes_ += bytes;
  free_.emplace(bytes, std::move(block));
}

absl::Status GpuMemory::Read(embed::RankPool& pool, const std::byte* source, std::span<std::byte> target) {
  if (reads_ == nullptr || !reads_->status().ok()) {
    reads_ = nullptr;
    auto job = pool.Open(0);
    if (!job.ok()) return job.status();
    reads_ = *std::move(job);
  }
  return reads_->Run(
      [source, target](const embed::Rank& rank) { return rank.device->host_transfer()->Download(source, target); });
}

}  // namespace sgd::pjrt
