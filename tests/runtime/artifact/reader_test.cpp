// Opening artifacts: what is handed out, and that no damage anywhere gets through.
#include "runtime/artifact/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ArtifactFile, RoundTrip) {
  testing::TemporaryFolder folder;
  const std::string path = folder.File("sample.sgda");
  std::ofstream(path, std::ios::binary) << testing::SampleBytes(4);
  absl::StatusOr<std::unique_ptr<ArtifactFile>> file = ArtifactFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->ranks(), 4u);
  EXPECT_EQ((*file)->constants().size(), 512u);
  EXPECT_EQ((*file)->root().constant_bytes(), 512u);
  absl::StatusOr<const Program*> program = (*file)->FindProgram("main");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->instructions()->size(), 7u);
  EXPECT_EQ((*program)->collective_hash()->size(), 32u);
  EXPECT_EQ((*file)->FindProgram("eval").status().message(),
            path + ": has no program 'eval'; expected one of: main; compile the model again with that program");
}

TEST(ArtifactFile, HashTellsArtifactsApart) {
  const auto hash = [](uint32_t ranks) {
    return HexHash((*ArtifactFile::FromBytes(testing::SampleBytes(ranks), "sample"))->hash());
  };
  EXPECT_EQ(hash(2), hash(2));
  EXPECT_NE(hash(2), hash(4));
}

TEST(ArtifactFile, ErrorsOfTheSystem) {
  testing::TemporaryFolder folder;
  const absl::Status missing = ArtifactFile::Open(folder.File("none.sgda")).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("none.sgda: cannot open the artifact"));
  EXPECT_THAT(std::string(ArtifactFile::Open(folder.path()).status().message()), HasSubstr("not a regular file"));
  ASSERT_EQ(mkfifo(folder.File("pipe.sgda").c_str(), 0600), 0);
  EXPECT_THAT(std::string(ArtifactFile::Open(folder.File("pipe.sgda")).status().message()),
              HasSubstr("not a regular file"));
  std::ofstream(folder.File("empty.sgda"), std::ios::binary);
  EXPECT_THAT(std::string(ArtifactFile::Open(folder.File("empty.sgda")).status().message()),
              HasSubstr("empty.sgda: is not an sgd artifact: 0 bytes"));
}

TEST(ArtifactFile, RefusedFilesSayWhatToDo) {
  testing::TemporaryFolder folder;
  const auto error_of = [&](const std::string& bytes) {
    std::ofstream(folder.File("a.sgda"), std::ios::binary | std::ios::trunc) << bytes;
    return std::string(ArtifactFile::Open(folder.File("a.sgda")).status().message());
  };
  const std::vector<uint8_t> no_program(64, 1);
  EXPECT_THAT(error_of(*BuildContainer({{no_program, {}, {}}})),
              HasSubstr("a.sgda: section 'program' is not a program; expected a program that sgdc of this version "
                        "writes; compile the model again"));
  const std::string sample = testing::SampleBytes(2);
  EXPECT_THAT(error_of(sample.substr(0, sample.size() - 1)),
              EndsWith("; expected the file as it was written; copy it again, or compile the model again"));
}

// What a step does can be read of an artifact whose kernels were never compiled; nobody who runs it takes it.
TEST(ArtifactFile, WithoutCodeForReadersAlone) {
  const std::string sample = testing::SampleBytes(2);
  const Sections sections = OpenContainer({reinterpret_cast<const uint8_t*>(sample.data()), sample.size()})->front();
  const std::string bytes = *BuildContainer({{sections.program, {}, sections.constants}});
  EXPECT_THAT(std::string(ArtifactFile::FromBytes(bytes, "sample").status().message()),
              HasSubstr("has kernels but no kernels section"));
  absl::StatusOr<std::unique_ptr<ArtifactFile>> file = ArtifactFile::FromBytesWithoutCode(bytes, "sample");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_GT((*file)->root().kernels()->size(), 0u);
  EXPECT_TRUE((*file)->kernels().empty());
  EXPECT_FALSE(ArtifactFile::FromBytesWithoutCode(bytes.substr(0, bytes.size() - 1), "sample").ok());
}

TEST(ArtifactFile, EveryFlippedByteIsFound) {
  std::string bytes = testing::SampleBytes(2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    absl::StatusOr<std::unique_ptr<ArtifactFile>> file = ArtifactFile::FromBytes(bytes, "sample");
    EXPECT_THAT(std::string(file.status().message()), AllOf(StartsWith("sample: "), Not(HasSubstr("\n"))))
        << "byte " << i;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
  }
}

// Damage with hashes made right again reaches the inner checks, which must refuse or accept without
// a crash.
TEST(ArtifactFile, SurvivesForgedPrograms) {
  const std::string bytes = testing::SampleBytes(2);
  const Sections sections = OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})->front();
  std::vector<uint8_t> program(sections.program.begin(), sections.program.end());
  size_t refused = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    for (uint8_t mask : {0x01, 0x80, 0xff}) {
      program[i] ^= mask;
      const std::string forged = *BuildContainer({{program, sections.kernels, sections.constants}});
      refused += ArtifactFile::FromBytes(forged, "forged").ok() ? 0 : 1;
      program[i] ^= mask;
    }
  }
  EXPECT_GT(refused, program.size());
}

}  // namespace
}  // namespace sgd::artifact
