// Files appear whole or not at all, with the same bytes for the same tensors, also when two writers
// fill one file.
#include "runtime/data/tensor_file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;

const std::vector<TensorSpec> kSpecs = {
    {"flag", ElementType::Bool, {3}}, {"w", ElementType::F32, {2, 2}}, {"step", ElementType::I64, {}}};

TEST(TensorFileWriter, RoundTrip) {
  TemporaryFolder folder;
  auto writer = TensorFileWriter::Create(folder / "out", kSpecs, {{"format", "sgd"}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<float> w = {1, 2, 3, 4};
  const int64_t step = 77;
  WriteTensor(*writer, 1, w.data());
  WriteTensor(*writer, 2, &step);
  EXPECT_EQ(access((folder / "out").c_str(), F_OK), -1) << "visible before Commit";
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(folder.files(), 1u);

  auto file = SafetensorsFile::Open(folder / "out");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Values<float>(file->Bytes(*file->Find("w"))), w);
  EXPECT_EQ(Values<int64_t>(file->Bytes(*file->Find("step"))), std::vector<int64_t>{77});
  EXPECT_EQ(Values<char>(file->Bytes(*file->Find("flag"))), std::vector<char>(3, 0));
  EXPECT_EQ(file->metadata().at("format"), "sgd");
  // Wide elements first, so every tensor is aligned to its element.
  EXPECT_LT(file->Find("step")->offset, file->Find("w")->offset);
  EXPECT_EQ(file->Find("step")->offset % 8, 0u);
}

TEST(TensorFileWriter, SameTensorsGiveSameBytes) {
  TemporaryFolder folder;
  WriteCounting(folder / "one", {{"a", {2}}, {"b", {3}}});
  WriteCounting(folder / "two", {{"a", {2}}, {"b", {3}}});
  EXPECT_EQ(ReadText(folder / "one"), ReadText(folder / "two"));
}

TEST(TensorFileWriter, TwoRanksFillOneFile) {
  TemporaryFolder folder;
  const std::vector<TensorSpec> specs = {{"x", ElementType::U8, {4}}};
  auto creator = TensorFileWriter::Create(folder / "out", specs);
  ASSERT_TRUE(creator.ok()) << creator.status();
  {
    auto joined = TensorFileWriter::Join(folder / "out", specs);
    ASSERT_TRUE(joined.ok()) << joined.status();
    std::memcpy(joined->Bytes(0).data() + 2, "cd", 2);
  }
  std::memcpy(creator->Bytes(0).data(), "ab", 2);
  ASSERT_TRUE(creator->Commit().ok());
  auto file = SafetensorsFile::Open(folder / "out");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Values<char>(file->Bytes(*file->Find("x"))), (std::vector<char>{'a', 'b', 'c', 'd'}));
}

TEST(TensorFileWriter, LeavesNothingWithoutCommit) {
  TemporaryFolder folder;
  WriteText(folder / "out", "before");
  {
    ASSERT_TRUE(TensorFileWriter::Create(folder / "out", kSpecs).ok());
  }
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_EQ(ReadText(folder / "out"), "before");
}

TEST(TensorFileWriter, TakesOverWhatADeadRunLeft) {
  TemporaryFolder folder;
  WriteText(TensorFileWriter::AsidePath(folder / "out"), std::string(100'000, 'x'));
  WriteCounting(folder / "out", {{"a", {2}}});
  EXPECT_TRUE(SafetensorsFile::Open(folder / "out").ok());
  EXPECT_EQ(folder.files(), 1u);
}

TEST(TensorFileWriter, ReplacesWhatALinkLeadsTo) {
  TemporaryFolder folder;
  WriteText(folder / "file", "before");
  ASSERT_EQ(symlink((folder / "file").c_str(), (folder / "link").c_str()), 0);
  WriteCounting(folder / "link", {{"a", {2}}});
  EXPECT_TRUE(SafetensorsFile::Open(folder / "file").ok());
  EXPECT_EQ(folder.files(), 2u);
}

TEST(TensorFileWriter, RefusesTwoWritersOfOneFile) {
  TemporaryFolder folder;
  auto first = TensorFileWriter::Create(folder / "out", kSpecs);
  ASSERT_TRUE(first.ok());
  auto second = TensorFileWriter::Create(folder / "out", kSpecs);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another run is writing this file"));
  EXPECT_TRUE(first->Commit().ok());
}

// A writer that opens the unfinished file just before another one renames it has that one's result in its hands, and
// must not write there.
TEST(TensorFileWriter, NeverWritesIntoAFileThatWasRenamedMeanwhile) {
  TemporaryFolder folder;
  std::atomic<bool> ends = false;
  std::thread other([&] {
    // Makes the unfinished file, holds its lock, renames it, as a writer does.
    for (int round = 0; round < 300; ++round) {
      auto file = MappedFile::CreateShared(folder / "out.partial", 8);
      if (!file.ok()) continue;
      std::memcpy(file->mutable_bytes().data(), "finished", 8);
      EXPECT_EQ(rename((folder / "out.partial").c_str(), (folder / "out").c_str()), 0);
    }
    ends = true;
  });
  while (!ends) {
    // Fails without having changed anything that is finished.
    auto file = MappedFile::CreateShared(folder / "out.partial", 4);
    if (file.ok()) unlink((folder / "out.partial").c_str());
    if (std::filesystem::exists(folder / "out")) EXPECT_EQ(ReadText(folder / "out"), "finished");
  }
  other.join();
}

TEST(TensorFileWriter, RefusesNamesTwiceAndOverflow) {
  TemporaryFolder folder;
  auto twice = TensorFileWriter::Create(folder / "out", {{"a", ElementType::F32, {}}, {"a", ElementType::F32, {}}});
  EXPECT_THAT(std::string(twice.status().message()), HasSubstr("two tensors would be named 'a'"));
  auto large = TensorFileWriter::Create(folder / "out", {{"a", ElementType::F32, {uint64_t{1} << 61}}});
  EXPECT_THAT(std::string(large.status().message()), HasSubstr("tensor 'a': its size overflows"));
  EXPECT_EQ(folder.files(), 0u);
}

TEST(TensorFileWriter, ChecksWritability) {
  TemporaryFolder folder;
  EXPECT_TRUE(TensorFileWriter::CheckWritable(folder / "out").ok());
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_THAT(std::string(TensorFileWriter::CheckWritable(folder / "none/out").message()),
              HasSubstr("cannot create: No such file or directory"));
  EXPECT_THAT(std::string(TensorFileWriter::CheckWritable(folder.path()).message()), HasSubstr("not a regular file"));
  EXPECT_THAT(std::string(TensorFileWriter::CheckWritable("/dev/full").message()), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace sgd::data
