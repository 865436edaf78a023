#include "runtime/measure/device_rates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/measure/device_kind.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/comm/meeting_threads.h"

namespace sgd::measure {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(10);
constexpr DeviceSizes kSmall{.most_matmul = 16, .copied_bytes = 4096, .least_seconds = 0, .packs = true};

// What ranks with caches of these sizes find.
std::vector<DeviceRates> Measure(const std::vector<uint64_t>& cache_bytes) {
  std::vector<DeviceRates> found(cache_bytes.size());
  const auto measure = [&](comm::Control& control) -> absl::Status {
    auto device = cpu::CpuDevice::Create({.threads = 1});
    if (!device.ok()) return device.status();
    DeviceSizes sizes = kSmall;
    sizes.cache_bytes = cache_bytes[control.rank()];
    absl::StatusOr<DeviceRates> rates = MeasureDevice(**device, control, sizes, kTimeout);
    if (rates.ok()) found[control.rank()] = *rates;
    return rates.status();
  };
  for (const absl::Status& status : comm::RunMeetingRanks(static_cast<uint32_t>(cache_bytes.size()), measure))
    EXPECT_TRUE(status.ok()) << status;
  return found;
}

TEST(Device, HasTheSameRatesOnAllRanks) {
  // Caches may be larger than all else that is measured.
  const std::vector<DeviceRates> rates = Measure({2 << 20, 1 << 20});
  for (const double DeviceRates::* rate :
       {&DeviceRates::flops, &DeviceRates::half_flops, &DeviceRates::memory_bandwidth, &DeviceRates::cache_bandwidth,
        &DeviceRates::packed_elements, &DeviceRates::launch_latency}) {
    EXPECT_GT(rates[0].*rate, 0);
    EXPECT_EQ(rates[0].*rate, rates[1].*rate);
  }
  EXPECT_EQ(rates[0].cache_bytes, 1u << 20);
  EXPECT_EQ(rates[1].cache_bytes, 1u << 20);
}

TEST(Device, HasNoCacheWhereARankKnowsNone) {
  for (const DeviceRates& rates : Measure({0, 1 << 20})) {
    EXPECT_EQ(rates.cache_bytes, 0u);
    EXPECT_EQ(rates.cache_bandwidth, 0);
    EXPECT_GT(rates.launch_latency, 0);
  }
}

std::vector<absl::Status> Agree(const std::vector<DeviceKind>& kinds, std::vector<DeviceKind>& agreed) {
  agreed.resize(kinds.size());
  return comm::RunMeetingRanks(static_cast<uint32_t>(kinds.size()), [&](comm::Control& control) -> absl::Status {
    absl::StatusOr<DeviceKind> kind = AgreeOnKind(kinds[control.rank()], control, kTimeout);
    if (kind.ok()) agreed[control.rank()] = *kind;
    return kind.status();
  });
}

TEST(Kind, HasTheLeastMemory) {
  std::vector<DeviceKind> agreed;
  for (const absl::Status& status : Agree({{7, "sm_90"}, {5, "sm_90"}, {6, "sm_90"}}, agreed))
    EXPECT_TRUE(status.ok()) << status;
  for (const DeviceKind& kind : agreed) {
    EXPECT_EQ(kind.memory_bytes, 5u);
    EXPECT_EQ(kind.architecture, "sm_90");
  }
}

TEST(Kind, IsOneOfAllRanks) {
  std::vector<DeviceKind> agreed;
  for (const absl::Status& status : Agree({{7, "sm_90"}, {7, "sm_90"}, {7, "sm_80"}}, agreed)) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rank 0 has sm_90, rank 2 has sm_80; expected devices of one"));
  }
  for (const absl::Status& status : Agree({{7, ""}, {7, "sm_80"}}, agreed))
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0 has a CPU, rank 1 has sm_80"));
}

}  // namespace
}  // namespace sgd::measure
