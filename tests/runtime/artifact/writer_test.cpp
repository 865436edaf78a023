// Determinism and atomicity of writing.
#include "runtime/artifact/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ArtifactWriter, SameCallsSameBytes) { EXPECT_EQ(testing::SampleBytes(2), testing::SampleBytes(2)); }

TEST(ArtifactWriter, ConstantsAreAlignedAndShared) {
  ArtifactWriter writer;
  const Slice one = writer.AddConstant("abc");
  const Slice two = writer.AddConstant("defg", 4096);
  const Slice same = writer.AddConstant("abc", 16);
  EXPECT_EQ(one.offset(), 0u);
  EXPECT_EQ(two.offset(), 4096u);
  EXPECT_EQ(two.size(), 4u);
  EXPECT_EQ(same.offset(), one.offset());
  EXPECT_EQ(writer.constant_bytes(), 4100u);
}

TEST(ArtifactWriter, RefusesWhatTheReaderWouldRefuse) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  writer.artifact().private_bytes = 64;
  EXPECT_THAT(std::string(writer.Serialize().status().message()), HasSubstr("are outside of the Private space"));
  ArtifactWriter empty;
  EXPECT_FALSE(empty.Serialize().ok());
}

TEST(ArtifactWriter, WritesWholeFiles) {
  testing::TemporaryFolder folder;
  ArtifactWriter writer;
  testing::FillSample(writer, 1);
  ASSERT_TRUE(writer.WriteFile(folder.File("a.sgda")).ok());
  std::ifstream file(folder.File("a.sgda"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), testing::SampleBytes(1));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(ArtifactWriter, LeavesNothingBehindOnFailure) {
  testing::TemporaryFolder folder;
  const absl::Status missing = WriteFileAtomically(folder.File("no/such/folder/a.sgda"), "bytes");
  EXPECT_THAT(std::string(missing.message()), HasSubstr("no/such/folder/a.sgda: cannot create"));
  std::filesystem::create_directory(folder.File("b.sgda"));
  const absl::Status blocked = WriteFileAtomically(folder.File("b.sgda"), "bytes");
  EXPECT_THAT(std::string(blocked.message()), HasSubstr("b.sgda: is a directory"));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(ArtifactWriter, SaysBeforehandWhatCannotBeWritten) {
  testing::TemporaryFolder folder;
  std::ofstream(folder.File("old.sgda")) << "old";
  for (const char* name : {"new.sgda", "old.sgda"}) EXPECT_TRUE(CheckWritable(folder.File(name)).ok()) << name;
  EXPECT_TRUE(CheckWritable("/dev/null").ok());
  EXPECT_THAT(std::string(CheckWritable(folder.File("no/a.sgda")).message()), HasSubstr("no/a.sgda: cannot create"));
  EXPECT_THAT(std::string(CheckWritable(folder.path()).message()), HasSubstr("is a directory"));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(ArtifactWriter, FollowsLinksAndKeepsDevices) {
  testing::TemporaryFolder folder;
  std::ofstream(folder.File("real.sgda")) << "old";
  std::filesystem::create_symlink("real.sgda", folder.File("link.sgda"));
  ASSERT_TRUE(WriteFileAtomically(folder.File("link.sgda"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.File("link.sgda")));
  std::ifstream file(folder.File("real.sgda"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "new");
  // Links that lead to no file yet, the second through a folder of its own.
  std::filesystem::create_directory(folder.File("runs"));
  std::filesystem::create_symlink("first.sgda", folder.File("runs/latest"));
  std::filesystem::create_symlink("runs/latest", folder.File("latest"));
  ASSERT_TRUE(WriteFileAtomically(folder.File("latest"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.File("latest")));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.File("runs/first.sgda")));
  std::filesystem::create_symlink("loop", folder.File("loop"));
  EXPECT_THAT(std::string(WriteFileAtomically(folder.File("loop"), "new").message()),
              HasSubstr("loop: cannot create: Too many levels of symbolic links"));
  ASSERT_TRUE(WriteFileAtomically("/dev/null", "bytes").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace sgd::artifact
