// An artifact whose kernels stay below AVX-512 also keeps the matmul library there.
#include <gtest/gtest.h>

#include <dnnl.hpp>

#include "runtime/artifact/writer.h"
#include "targets/cpu/device/cpu_device.h"
#include "targets/cpu/device/cpu_features.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::cpu {
namespace {

std::unique_ptr<artifact::ArtifactFile> SampleFor(const std::string& feature) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  writer.artifact().cpu_features = {feature};
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "model.sgda");
}

TEST(InstructionSet, IsTheArtifacts) {
  auto device = *CpuDevice::Create({1});
  device->fingerprint();  // must not fix the instruction set
  const auto file = SampleFor("fpu");
  CpuDevice::WarmUp(*file);  // uses the library, so it has to cap it first
  for (int again = 0; again < 2; ++again) {
    const absl::Status status = device->LoadKernels(*file).status();
    ASSERT_TRUE(status.ok()) << status;
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    EXPECT_TRUE(isa == dnnl::cpu_isa::sse41 || isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::avx2);
  }
}

}  // namespace
}  // namespace sgd::cpu
