// One pool is the caller's thread, the others are resident ranks.
#include "plugins/pjrt/rank_pool.h"

#include <sched.h>

#include <utility>

#include "absl/time/time.h"
#include "targets/cpu/device/cpu_device.h"

namespace sgd::pjrt {
namespace {

// For ranks to find each other, which are threads of this process.
constexpr absl::Duration kDeadline = absl::Seconds(60);

uint32_t CoresOfProcess() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

// One rank, on the thread that calls.
class CallingRank final : public RankPool {
 public:
  explicit CallingRank(std::unique_ptr<device::Device> device) : device_(std::move(device)) {}

  absl::StatusOr<std::unique_ptr<RankJob>> Open(uint64_t window_bytes) override {
    auto segment = comm::SharedMemorySegment::Create(1, window_bytes);
    if (!segment.ok()) return segment.status();
    auto communicator = comm::SharedMemoryCommunicator::Connect(*std::move(segment), 0, kDeadline);
    if (!communicator.ok()) return communicator.status();
    return std::make_unique<Job>(*device_, *std::move(communicator));
  }

 private:
  class Job final : public RankJob {
   public:
    Job(device::Device& device, std::unique_ptr<comm::SharedMemoryCommunicator> communicator)
        : device_(device), communicator_(std::move(communicator)) {}
    absl::Status Run(const RankBody& body) override { return body({0, communicator_.get(), &device_}); }

   private:
    device::Device& device_;
    const std::unique_ptr<comm::SharedMemoryCommunicator> communicator_;
  };

  const std::unique_ptr<device::Device> device_;
};

class ThreadRanks final : public RankPool {
 public:
  explicit ThreadRanks(std::unique_ptr<launch::ResidentRanks> ranks)
      : ranks_(std::move(ranks)), devices_(ranks_->size()) {}

  absl::StatusOr<std::unique_ptr<RankJob>> Open(uint64_t window_bytes) override {
    auto job = ranks_->Open(window_bytes);
    if (!job.ok()) return job.status();
    absl::Status status = (*job)->Run([this](launch::RankContext& rank) { return CreateDevice(rank); });
    if (!status.ok()) return status;
    return std::make_unique<Job>(*this, *std::move(job));
  }

 private:
  class Job final : public RankJob {
   public:
    Job(ThreadRanks& pool, std::unique_ptr<launch::ResidentJob> job) : pool_(pool), job_(std::move(job)) {}
    absl::Status Run(const RankBody& body) override {
      return job_->Run([&](launch::RankContext& rank) {
        return body({rank.rank, rank.communicator, pool_.devices_[rank.rank].get()});
      });
    }

   private:
    ThreadRanks& pool_;
    const std::unique_ptr<launch::ResidentJob> job_;
  };

  absl::Status CreateDevice(const launch::RankContext& rank) {
    if (devices_[rank.rank] != nullptr) return absl::OkStatus();
    auto device =
        cpu::CpuDevice::Create({.threads = rank.threads, .cores = rank.cores, .shares_cores = rank.shares_cores});
    if (!device.ok()) return device.status();
    devices_[rank.rank] = *std::move(device);
    return absl::OkStatus();
  }

  const std::unique_ptr<launch::ResidentRanks> ranks_;
  std::vector<std::unique_ptr<device::Device>> devices_;  // by rank; null before the first job
};

absl::StatusOr<std::unique_ptr<RankPool>> StartPool(uint32_t ranks) {
  if (ranks == 1) {
    auto device = cpu::CpuDevice::Create({.threads = CoresOfProcess()});
    if (!device.ok()) return device.status();
    return std::make_unique<CallingRank>(*std::move(device));
  }
  auto resident = launch::ResidentRanks::Start(ranks, {});
  if (!resident.ok()) return resident.status();
  return std::make_unique<ThreadRanks>(*std::move(resident));
}

}  // namespace

absl::StatusOr<RankPool*> RankPools::Of(uint32_t ranks) {
  std::unique_ptr<RankPool>& pool = pools_[ranks];
  if (pool == nullptr) {
    auto started = StartPool(ranks);
    if (!started.ok()) return started.status();
    pool = *std::move(started);
  }
  return pool.get();
}

}  // namespace sgd::pjrt
