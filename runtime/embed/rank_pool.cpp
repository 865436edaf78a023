// Resident ranks, and a device for each that outlives jobs.
#include "runtime/embed/rank_pool.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "targets/cpu/device/cpu_device.h"

namespace sgd::embed {

absl::StatusOr<std::unique_ptr<RankPool>> RankPool::Start(uint32_t ranks, const RankPoolOptions& options) {
  auto resident = launch::ResidentRanks::Start(
      ranks, {.threads = options.threads, .grace = options.grace, .single_on_caller = options.single_on_caller});
  if (!resident.ok()) return resident.status();
  return absl::WrapUnique(new RankPool(*std::move(resident), options.open_device));
}

absl::StatusOr<std::unique_ptr<device::Device>> RankPool::OpenDeviceOf(const launch::RankContext& rank) const {
  if (open_device_) return open_device_(rank);
  // A thread that calls may run anywhere, and would share a core with a thread of the device that is bound.
  return cpu::CpuDevice::Create({.threads = rank.threads,
                                 .cores = ranks_->is_on_caller() ? std::vector<int>() : rank.cores,
                                 .shares_cores = rank.shares_cores});
}

absl::StatusOr<std::shared_ptr<const RankPool::Devices>> RankPool::DevicesOf(launch::ResidentJob& job) {
  const auto devices = std::make_shared<Devices>();
  {
    const std::lock_guard lock(mutex_);
    *devices = devices_;
  }
  absl::Status status = job.Run([this, devices](launch::RankContext& rank) {
    std::shared_ptr<device::Device>& device = (*devices)[rank.resident];
    if (device != nullptr) return absl::OkStatus();
    auto opened = OpenDeviceOf(rank);
    if (opened.ok()) device = *std::move(opened);
    return opened.status();
  });
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (devices_[rank] == nullptr) devices_[rank] = (*devices)[rank];
    // Another thread has opened it meanwhile.
    (*devices)[rank] = devices_[rank];
  }
  return devices;
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::Open(uint64_t window_bytes) {
  return Use(ranks_->Open(window_bytes));
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::OpenSpread(uint64_t window_bytes, const launch::SpreadJob& spread) {
  return Use(ranks_->OpenSpread(window_bytes, spread));
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::Use(absl::StatusOr<std::unique_ptr<launch::ResidentJob>> job) {
  if (!job.ok()) return job.status();
  auto devices = DevicesOf(**job);
  if (!devices.ok()) return devices.status();
  return absl::WrapUnique(new RankJob(*this, *std::move(job), *std::move(devices)));
}

void RankPool::Abandon(const std::vector<uint32_t>& lost) {
  if (lost.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const uint32_t rank : lost) devices_[rank] = nullptr;
}

absl::Status RankPool::Check(const Devices& devices) {
  const std::lock_guard lock(mutex_);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (devices[rank] == devices_[rank]) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", rank, ": a function of another program has not returned from its device"));
  }
  return absl::OkStatus();
}

absl::Status RankJob::status() const {
  const absl::Status ended = job_->status();
  return ended.ok() ? pool_.Check(*devices_) : ended;
}

absl::Status RankJob::Run(const RankBody& body) {
  if (absl::Status status = pool_.Check(*devices_); !status.ok()) Abort(status);
  const absl::Status status = job_->Run([devices = devices_, body](launch::RankContext& rank) {
    return body({rank.resident, rank.communicator, (*devices)[rank.resident]});
  });
  if (!status.ok()) pool_.Abandon(job_->lost());
  return status;
}

}  // namespace sgd::embed
