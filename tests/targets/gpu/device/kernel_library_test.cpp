// Which module of an artifact a GPU gets, and what is said when there is none.
#include "targets/gpu/device/kernel_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulated_device.h"
#include "runtime/artifact/kernel_modules.h"
#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::cuda {
namespace {

using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

TEST(Architectures, TheNewestThatTheGpuRuns) {
  const std::vector<std::string> names = {"sm_90", "sm_80", "sm_100"};
  EXPECT_EQ(*ChooseArchitecture(names, {"GPU", 80}), 1u);
  EXPECT_EQ(*ChooseArchitecture(names, {"GPU", 89}), 1u);
  EXPECT_EQ(*ChooseArchitecture(names, {"GPU", 90}), 0u);
  EXPECT_EQ(*ChooseArchitecture(names, {"GPU", 103}), 2u);
  EXPECT_EQ(*ChooseArchitecture(names, {"sm_80", 120}), 1u);
  EXPECT_EQ(*ChooseArchitecture({"sm_90a", "sm_80"}, {"GPU", 90}), 0u);
  EXPECT_EQ(*ChooseArchitecture({"sm_90a", "sm_80"}, {"GPU", 100}), 1u);
}

TEST(Architectures, NoneForThisGpu) {
  const absl::Status status = ChooseArchitecture({"sm_90", "sm_100"}, {"NVIDIA A100", 80}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(status.message()),
            "compiled for sm_90, sm_100, this GPU is an sm_80 (NVIDIA A100); compile with --target=cuda:sm_80");
  for (const char* name : {"sm_", "sm_x", "90", "", "sm_90a"})
    EXPECT_FALSE(ChooseArchitecture({name}, {"GPU", 100}).ok()) << name;
}

std::unique_ptr<artifact::ArtifactFile> ArtifactOf(const std::string& text, const std::string& symbol) {
  artifact::ArtifactWriter writer;
  writer.artifact().compiler_version = "test";
  writer.artifact().target = "cuda";
  writer.artifact().architectures = {"sm_90"};
  writer.artifact().kernels.push_back(std::make_unique<artifact::KernelT>());
  writer.artifact().kernels[0]->symbol = symbol;
  writer.artifact().kernels[0]->threads = 32;
  writer.artifact().kernels[0]->shared_bytes = 64 << 10;
  writer.artifact().programs.push_back(std::make_unique<artifact::ProgramT>());
  writer.artifact().programs[0]->name = "main";
  writer.SetKernels(artifact::PackKernelModules({text}));
  auto file = artifact::ArtifactFile::FromBytes(*writer.Serialize(), "model.sgda");
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST_F(EmulatedDevice, LoadsKernels) {
  EXPECT_TRUE(
      device_->LoadKernels(*ArtifactOf(".visible .entry double_it(.param .u64 a, .param .u64 b) {}", "double_it"))
          .ok());
  const absl::Status missing = device_->LoadKernels(*ArtifactOf(".entry other() {}", "double_it")).status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("model.sgda: kernel double_it: CUDA_ERROR_NOT_FOUND"));
}

TEST_F(EmulatedDevice, SaysThatTheDriverIsTooOldForTheKernels) {
  const absl::Status status = device_->LoadKernels(*ArtifactOf("// PTX_TOO_NEW", "double_it")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.sgda: cannot load the kernels for sm_90: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the driver is of CUDA 13.0, a newer one is needed"));
}

}  // namespace
}  // namespace sgd::cuda
