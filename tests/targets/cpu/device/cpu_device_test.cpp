// The CPU device under the conformance suite, and what is its own: features, refused options.
#include "targets/cpu/device/cpu_device.h"

#include <gmock/gmock.h>

#include <atomic>
#include <vector>

#include "runtime/artifact/writer.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/device/kernel_library.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/device/conformance.h"

namespace sgd::testing {

INSTANTIATE_TEST_SUITE_P(Cpu, DeviceConformance,
                         ::testing::Values(DeviceFactory{
                             "cpu",
                             [](uint32_t threads) -> absl::StatusOr<std::unique_ptr<device::Device>> {
                               return cpu::CpuDevice::Create({threads});
                             }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace sgd::testing

namespace sgd::cpu {
namespace {

using ::testing::HasSubstr;

TEST(CpuDevice, RefusesZeroThreads) {
  EXPECT_EQ(CpuDevice::Create({0}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CpuDevice, RunsHostWorkOnce) {
  auto device = *CpuDevice::Create({3});
  for (uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{100'000}}) {
    std::vector<std::atomic<int>> runs(count);
    device->RunOnThreads(count, [&](uint64_t i) { ++runs[i]; });
    for (const std::atomic<int>& n : runs) ASSERT_EQ(n.load(), 1);
  }
}

TEST(CpuDevice, FingerprintNamesTheCpu) {
  auto device = *CpuDevice::Create({1});
  EXPECT_THAT(device->fingerprint(), HasSubstr(" avx2 "));
  EXPECT_EQ(device->fingerprint(), (*CpuDevice::Create({2}))->fingerprint());
}

// Whatever descriptors they are loaded from.
TEST(CpuKernelLibrary, ArtifactsHaveTheirOwnCode) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  const auto file = *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
  const auto first = *CpuKernelLibrary::Load(*file);
  const auto second = *CpuKernelLibrary::Load(*file);
  EXPECT_NE(first->function(0), second->function(0));
}

TEST(CpuFeatures, OnlyWhatEveryCpuHas) {
  EXPECT_EQ(ParseCpuFlags("processor\t: 0\nflags\t\t: fpu avx2 fma\n\nprocessor\t: 1\nflags\t\t: avx2 fpu\n"),
            (std::set<std::string>{"avx2", "fpu"}));
  EXPECT_TRUE(ParseCpuFlags("").empty());
}

TEST(CpuFeatures, MissingOnesAreNamed) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  writer.artifact().cpu = "x86-64-v9";
  writer.artifact().cpu_features = {"fpu", "avx9000", "warp"};
  auto file = *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "model.sgda");
  auto device = *CpuDevice::Create({1});
  EXPECT_EQ(
      device->LoadKernels(*file).status(),
      absl::FailedPreconditionError("model.sgda: compiled for x86-64-v9; this CPU lacks avx9000, warp; compile here "
                                    "or with --cpu=x86-64-v3"));
}

}  // namespace
}  // namespace sgd::cpu
