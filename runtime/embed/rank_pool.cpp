// Resident ranks, and a device for each that outlives jobs.
#include "runtime/embed/rank_pool.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "targets/cpu/device/cpu_device.h"

namespace sgd::embed {
namespace {

constexpr char kCpu[] = "cpu";
constexpr uint64_t kLeastWindow = 64;  // none at all is for ranks that talk through their devices

absl::Status CheckGpus(uint32_t ranks, const std::vector<uint32_t>& gpus) {
  if (gpus.empty() || gpus.size() == ranks) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(ranks, " ranks have ", gpus.size(), " GPUs; expected one for each"));
}

// Takes the objects out of `from`.
template <typename T>
std::vector<std::shared_ptr<void>> Taken(std::vector<std::shared_ptr<T>>& from) {
  std::vector<std::shared_ptr<void>> taken;
  for (std::shared_ptr<T>& object : from) taken.push_back(std::move(object));
  return taken;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankPool>> RankPool::Start(uint32_t ranks, const RankPoolOptions& options) {
  const device::TargetPlugin* plugin = nullptr;
  if (options.target != kCpu) {
    if (absl::Status status = CheckGpus(ranks, options.gpus); !status.ok()) return status;
    absl::StatusOr<const device::TargetPlugin*> opened = device::OpenTargetPlugin(options.target);
    if (!opened.ok()) return opened.status();
    plugin = *opened;
  }
  auto resident =
      launch::ResidentRanks::Start(ranks, {.threads = options.threads,
                                           .grace = options.grace,
                                           .single_on_caller = options.single_on_caller && plugin == nullptr,
                                           .single_takes_turns = options.single_takes_turns});
  if (!resident.ok()) return resident.status();
  return absl::WrapUnique(new RankPool(*std::move(resident), options, plugin));
}

RankPool::~RankPool() { Destroy(Taken(devices_)); }

void RankPool::Destroy(std::vector<std::shared_ptr<void>> objects) {
  const auto is_null = [](const std::shared_ptr<void>& object) { return object == nullptr; };
  if (is_host_memory() || std::ranges::all_of(objects, is_null)) return;
  const auto shared = std::make_shared<std::vector<std::shared_ptr<void>>>(std::move(objects));
  // A job of its own: that of the objects may have ended.
  auto job = ranks_->Open(0);
  if (!job.ok()) return;  // without threads they are destroyed on this one
  (*job)
      ->Run([shared](launch::RankContext& rank) {
        (*shared)[rank.resident] = nullptr;
        return absl::OkStatus();
      })
      .IgnoreError();
}

absl::StatusOr<std::unique_ptr<device::Device>> RankPool::OpenDeviceOf(const launch::RankContext& rank) const {
  if (plugin_ != nullptr) {
    return plugin_->OpenDevice({.local_rank = options_.gpus.empty() ? rank.resident : options_.gpus[rank.resident],
                                .has_messages = options_.has_messages,
                                .has_collectives = size() > 1});
  }
  if (options_.open_device) return options_.open_device(rank);
  // A thread that calls may run anywhere, and would share a core with a thread of the device that is bound.
  return cpu::CpuDevice::Create({.threads = rank.threads,
                                 .cores = ranks_->is_on_caller() ? std::vector<int>() : rank.cores,
                                 .shares_cores = rank.shares_cores});
}

void RankPool::DropBroken(uint32_t rank, std::shared_ptr<device::Device>& device) {
  if (is_host_memory() || device == nullptr || device->Synchronize().ok()) return;
  {
    const std::lock_guard lock(mutex_);
    if (devices_[rank] == device) devices_[rank] = nullptr;
  }
  device = nullptr;
}

absl::StatusOr<std::shared_ptr<const RankPool::Devices>> RankPool::DevicesOf(launch::ResidentJob& job) {
  const auto devices = std::make_shared<Devices>();
  {
    const std::lock_guard lock(mutex_);
    *devices = devices_;
  }
  absl::Status status = job.Run([this, devices](launch::RankContext& rank) {
    std::shared_ptr<device::Device>& device = (*devices)[rank.resident];
    DropBroken(rank.resident, device);
    if (device != nullptr) return absl::OkStatus();
    auto opened = OpenDeviceOf(rank);
    if (opened.ok()) device = *std::move(opened);
    return opened.status();
  });
  if (!status.ok()) {
    Destroy(Taken(*devices));
    return status;
  }
  const std::lock_guard lock(mutex_);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (devices_[rank] == nullptr) devices_[rank] = (*devices)[rank];
    // Another thread has opened it meanwhile.
    (*devices)[rank] = devices_[rank];
  }
  return devices;
}

absl::StatusOr<RankPool::Communicators> RankPool::Connect(launch::ResidentJob& job,
                                                          const std::shared_ptr<const Devices>& devices,
                                                          uint64_t window_bytes) {
  if (plugin_ == nullptr) return Communicators();
  const auto opened = std::make_shared<Communicators>(size());
  absl::Status status =
      job.Run([plugin = plugin_, timeout = options_.timeout, devices, opened, window_bytes](launch::RankContext& rank) {
        auto communicator = plugin->OpenCommunicator(*(*devices)[rank.resident], *rank.control, window_bytes, timeout);
        if (communicator.ok()) (*opened)[rank.resident] = *std::move(communicator);
        return communicator.status();
      });
  if (status.ok()) return std::move(*opened);
  Destroy(Taken(*opened));
  return status;
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::Open(uint64_t window_bytes) {
  return Use(ranks_->Open(is_host_memory() ? std::max(kLeastWindow, window_bytes) : 0), window_bytes);
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::OpenSpread(uint64_t window_bytes, const launch::SpreadJob& spread) {
  if (!is_host_memory())
    return absl::UnimplementedError(absl::StrCat("a program for ", target(), " on ranks of several processes is not ",
                                                 "supported; start it with sgdrun, or compile it for cpu"));
  return Use(ranks_->OpenSpread(window_bytes, spread), window_bytes);
}

absl::StatusOr<std::unique_ptr<RankJob>> RankPool::Use(absl::StatusOr<std::unique_ptr<launch::ResidentJob>> job,
                                                       uint64_t window_bytes) {
  if (!job.ok()) return job.status();
  auto devices = DevicesOf(**job);
  if (!devices.ok()) return devices.status();
  auto communicators = Connect(**job, *devices, window_bytes);
  if (!communicators.ok()) return communicators.status();
  return absl::WrapUnique(new RankJob(*this, *std::move(job), *std::move(devices), *std::move(communicators)));
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

RankJob::~RankJob() { pool_.Destroy(Taken(communicators_)); }

absl::Status RankJob::status() const {
  const absl::Status ended = job_->status();
  return ended.ok() ? pool_.Check(*devices_) : ended;
}

absl::Status RankJob::Run(const RankBody& body) {
  if (absl::Status status = pool_.Check(*devices_); !status.ok()) Abort(status);
  // A lost function keeps the communicator of its own rank alone.
  const std::vector<std::weak_ptr<comm::Communicator>> communicators(communicators_.begin(), communicators_.end());
  const absl::Status status = job_->Run([devices = devices_, communicators, body](launch::RankContext& rank) {
    const std::shared_ptr<comm::Communicator> own =
        communicators.empty() ? nullptr : communicators[rank.resident].lock();
    return body({rank.resident, own == nullptr ? rank.communicator : own.get(), (*devices)[rank.resident]});
  });
  if (!status.ok()) pool_.Abandon(job_->lost());
  return status;
}

}  // namespace sgd::embed
