// Module texts of cuda artifacts: what was packed is read, and damaged sections are refused.
#include "runtime/artifact/kernel_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

Bytes ViewOf(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

ArtifactT Sample() {
  ArtifactT artifact;
  artifact.compiler_version = "test";
  artifact.target = "cuda";
  artifact.architectures = {"sm_80", "sm_90"};
  artifact.kernels.push_back(std::make_unique<KernelT>());
  artifact.kernels.back()->symbol = "kernel_0";
  artifact.kernels.back()->threads = 256;
  return artifact;
}

std::string Check(const ArtifactT& artifact, const std::string& section) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Artifact::Pack(builder, &artifact), ArtifactIdentifier());
  return std::string(CheckKernelModules(*GetArtifact(builder.GetBufferPointer()), ViewOf(section)).message());
}

TEST(KernelModules, AreReadAsPacked) {
  const ArtifactT artifact = Sample();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Artifact::Pack(builder, &artifact), ArtifactIdentifier());
  const Artifact& root = *GetArtifact(builder.GetBufferPointer());
  const std::string section = PackKernelModules({"first", ""});
  absl::StatusOr<std::vector<KernelModule>> modules = ReadKernelModules(root, ViewOf(section));
  ASSERT_TRUE(modules.ok()) << modules.status();
  ASSERT_EQ(modules->size(), 2u);
  EXPECT_EQ((*modules)[0].architecture, "sm_80");
  EXPECT_EQ((*modules)[0].text, "first");
  EXPECT_EQ((*modules)[0].text.data()[5], '\0');
  EXPECT_EQ((*modules)[1].architecture, "sm_90");
  EXPECT_EQ((*modules)[1].text, "");
  EXPECT_EQ(Check(artifact, section), "");
}

TEST(KernelModules, EveryTruncationAndExtensionIsRefused) {
  const std::string section = PackKernelModules({"first", "second"});
  for (size_t size = 0; size < section.size(); ++size) {
    EXPECT_NE(Check(Sample(), section.substr(0, size)), "") << size;
  }
  EXPECT_THAT(Check(Sample(), section + "x"), HasSubstr("holds more than its modules"));
}

TEST(KernelModules, DamagedTextsAndTablesAreRefused) {
  std::string section = PackKernelModules({"first", "second"});
  std::string huge = section;
  huge[7] = '\xff';
  EXPECT_THAT(Check(Sample(), huge), HasSubstr("longer than the section"));
  std::string zero = section;
  zero[9] = '\0';
  EXPECT_THAT(Check(Sample(), zero), HasSubstr("only zero byte"));
  ArtifactT twice = Sample();
  twice.architectures[1] = "sm_80";
  EXPECT_THAT(Check(twice, section), HasSubstr("given twice"));
  ArtifactT none = Sample();
  none.architectures.clear();
  EXPECT_THAT(Check(none, ""), HasSubstr("names no architecture"));
  ArtifactT idle = Sample();
  idle.kernels[0]->threads = 0;
  EXPECT_THAT(Check(idle, section), HasSubstr("blocks of 0 threads"));
  ArtifactT strange = Sample();
  strange.kernels[0]->symbol = "a b";
  EXPECT_THAT(Check(strange, section), HasSubstr("is not an identifier"));
  ArtifactT large = Sample();
  large.kernels[0]->shared_bytes = 1u << 30;
  EXPECT_THAT(Check(large, section), HasSubstr("shared memory"));
}

}  // namespace
}  // namespace sgd::artifact
