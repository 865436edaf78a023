// Which module of an artifact a GPU gets, and what is said when there is none.
#include "targets/gpu/device/driver/kernel_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulated_device.h"
#include "runtime/artifact/kernel_modules.h"
#include "runtime/artifact/writer.h"
#include "targets/gpu/device/driver/kernel_text.h"
#include "tests/runtime/artifact/pipeline_artifact.h"
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

TEST(KernelText, WithoutEntries) {
  const std::string head = "//\n.version 7.8\n.target sm_90\n\n\t// .globl\ta\n.global .align 4 .b8 table[8];\n";
  const std::string a = ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.reqntid 32\n{\n\tret;\n\t{\n\t}\n}\n";
  const std::string b = ".visible .entry ab()\n{\n\tret;\n}\n";
  const std::string c = ".visible .entry c()\n{\n\tret;\n}";  // as the last line may end
  const std::string text = head + a + "\n" + b + c;
  EXPECT_EQ(WithoutEntries(text, {}), text);
  EXPECT_EQ(WithoutEntries(text, {"a"}), head + "\n" + b + c);
  EXPECT_EQ(WithoutEntries(text, {"ab", "c"}), head + a + "\n");
  EXPECT_EQ(WithoutEntries(text, {"b"}), text);
  EXPECT_EQ(WithoutEntries("", {"a"}), "");
}

// Kernel 0 is run by stage 0, as part of a group, 1 by both stages.
TEST_F(EmulatedDevice, LoadsKernelsOfAStage) {
  artifact::ArtifactWriter writer;
  testing::FillPipeline(writer);
  writer.artifact().target = "cuda";
  writer.artifact().cpu = "";
  writer.artifact().architectures = {"sm_90"};
  const auto launch_of = [](uint32_t kernel) {
    artifact::LaunchT launch;
    launch.kernel = kernel;
    launch.buffers = {artifact::Slice(artifact::Space::Private, 0, 16)};
    launch.range = launch.grain = 1;
    return launch;
  };
  for (const char* symbol : {"first", "both"}) {
    writer.artifact().kernels.push_back(std::make_unique<artifact::KernelT>());
    writer.artifact().kernels.back()->symbol = symbol;
    writer.artifact().kernels.back()->threads = 32;
    writer.artifact().kernels.back()->least_bytes = {16};
    writer.artifact().kernels.back()->outputs = writer.artifact().kernels.back()->range = 1;
  }
  artifact::LaunchGroupT group;
  group.launches.push_back(std::make_unique<artifact::LaunchT>(launch_of(0)));
  testing::Append(*writer.artifact().programs[0], std::move(group));
  for (const auto& program : writer.artifact().programs) testing::Append(*program, launch_of(1));
  writer.SetKernels(artifact::PackKernelModules(
      {".visible .entry first(.param .u64 a)\n{\n}\n.visible .entry both(.param .u64 a)\n{\n}\n"}));
  auto bytes = writer.Serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto file = artifact::ArtifactFile::FromBytes(*bytes, "model.sgda");
  ASSERT_TRUE(file.ok()) << file.status();
  for (const auto& [stage, has_first] : {std::pair(0, true), std::pair(1, false), std::pair(-1, true)}) {
    auto library = device_->LoadKernelsOf(**file, stage);
    ASSERT_TRUE(library.ok()) << library.status();
    const auto& kernels = static_cast<const CudaKernelLibrary&>(**library);
    EXPECT_EQ(kernels.kernel(0).function != nullptr, has_first) << stage;
    EXPECT_NE(kernels.kernel(1).function, nullptr) << stage;
  }
}

TEST_F(EmulatedDevice, SaysThatTheDriverIsTooOldForTheKernels) {
  const absl::Status status = device_->LoadKernels(*ArtifactOf("// PTX_TOO_NEW", "double_it")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.sgda: cannot load the kernels for sm_90: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the driver is of CUDA 13.0, a newer one is needed"));
}

}  // namespace
}  // namespace sgd::cuda
