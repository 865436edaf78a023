// Ranks that programs share: their devices, and what is left of a rank that does not return.
#include "runtime/embed/rank_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "targets/cpu/device/cpu_device.h"

namespace sgd::embed {
namespace {

using ::testing::HasSubstr;
using DeviceList = std::vector<std::shared_ptr<device::Device>>;

std::unique_ptr<RankPool> Start(uint32_t ranks, RankPoolOptions options = {.threads = 1}) {
  auto pool = RankPool::Start(ranks, options);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

std::unique_ptr<RankJob> Open(RankPool& pool) {
  auto job = pool.Open(4096);
  EXPECT_TRUE(job.ok()) << job.status();
  return *std::move(job);
}

DeviceList DevicesOf(RankJob& job, uint32_t ranks) {
  DeviceList devices(ranks);
  EXPECT_EQ(job.Run([&](const Rank& rank) {
    devices[rank.index] = rank.device;
    return absl::OkStatus();
  }),
            absl::OkStatus());
  return devices;
}

TEST(RankPool, JobsShareTheDevicesOfRanks) {
  const auto pool = Start(2);
  const auto one = Open(*pool), other = Open(*pool);
  const DeviceList devices = DevicesOf(*one, 2);
  EXPECT_NE(devices[0], devices[1]);
  EXPECT_EQ(DevicesOf(*other, 2), devices);
  EXPECT_EQ(DevicesOf(*Open(*pool), 2), devices);
}

TEST(RankPool, DevicesAreTheCallers) {
  std::atomic<int> opened = 0;
  bool fails = true;
  const auto pool =
      Start(2, {.open_device = [&](const launch::RankContext& rank) -> absl::StatusOr<std::unique_ptr<device::Device>> {
              if (fails && rank.rank == 1) return absl::UnavailableError("the slot is empty");
              ++opened;
              return cpu::CpuDevice::Create({.threads = 1});
            }});
  EXPECT_EQ(pool->Open(4096).status(), absl::UnavailableError("rank 1: the slot is empty"));
  fails = false;
  opened = 0;
  DevicesOf(*Open(*pool), 2);
  DevicesOf(*Open(*pool), 2);
  EXPECT_EQ(opened, 2);
}

TEST(RankPool, ASingleRankRunsOnTheCaller) {
  const std::thread::id here = std::this_thread::get_id();
  for (const bool on_caller : {true, false}) {
    const auto pool = Start(1, {.threads = 1, .single_on_caller = on_caller});
    EXPECT_EQ(Open(*pool)->Run([&](const Rank&) {
      EXPECT_EQ(std::this_thread::get_id() == here, on_caller);
      return absl::OkStatus();
    }),
              absl::OkStatus());
  }
}

TEST(RankPool, ALostRankGetsAnotherDevice) {
  const auto pool = Start(2, {.threads = 1, .grace = absl::Milliseconds(20)});
  const auto goes_on = std::make_shared<std::atomic<bool>>(true);
  const auto other = Open(*pool);
  const DeviceList before = DevicesOf(*other, 2);
  {
    const auto job = Open(*pool);
    const absl::Status status = job->Run([=](const Rank& rank) {
      while (rank.index == 0 && *goes_on) absl::SleepFor(absl::Milliseconds(1));
      return rank.index == 0 ? absl::OkStatus() : absl::InternalError("the valve is stuck");
    });
    EXPECT_EQ(status, absl::InternalError("rank 1: the valve is stuck"));
  }
  EXPECT_EQ(pool->lost(), 1u);
  // Another program's tensors are prepared for the device that is still in use.
  EXPECT_THAT(std::string(other->status().message()),
              HasSubstr("rank 0: a function of another program has not returned from its device"));
  EXPECT_THAT(std::string(other->Run([](const Rank&) { return absl::OkStatus(); }).message()),
              HasSubstr("the job has ended: rank 0: a function of another program"));
  const DeviceList after = DevicesOf(*Open(*pool), 2);
  EXPECT_NE(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
  *goes_on = false;
}

}  // namespace
}  // namespace sgd::embed
