// The reader takes what the format allows and refuses everything else with a line that names file,
// tensor and fault.
#include "runtime/data/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <time.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"

#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Safetensors, ReadsTensorsAndMetadata) {
  TemporaryFolder folder;
  const std::string path = folder / "in.safetensors";
  WriteSafetensors(
      path,
      R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"F64","shape":[0,5],"data_offsets":[7,7]}}   )",
      std::string("\x07\0\0\0abc", 7));
  auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->metadata().at("format"), "pt");
  const TensorEntry* a = file->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(TypeText(a->element, a->dims), "i32[]");
  EXPECT_EQ(Values<int32_t>(file->Bytes(*a)), std::vector<int32_t>{7});
  EXPECT_EQ(Values<char>(file->Bytes(*file->Find("b"))), (std::vector<char>{'a', 'b', 'c'}));
  EXPECT_TRUE(file->Bytes(*file->Find("e")).empty());
  EXPECT_EQ(file->Find("c"), nullptr);
}

TEST(Safetensors, ReadsComplexNumbers) {
  TemporaryFolder folder;
  const std::string path = folder / "in.safetensors";
  WriteSafetensors(path,
                   R"({"z":{"dtype":"C64","shape":[3],"data_offsets":[0,24]},"s":{"dtype":"C64","shape":[],)"
                   R"("data_offsets":[24,32]}})",
                   std::string(32, '\0'));
  auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(TypeText(file->Find("z")->element, file->Find("z")->dims), "c64[3]");
  EXPECT_EQ(TypeText(file->Find("s")->element, file->Find("s")->dims), "c64[]");
  EXPECT_EQ(file->Bytes(*file->Find("z")).size(), 24u);
  WriteSafetensors(path, R"({"z":{"dtype":"C64","shape":[3],"data_offsets":[0,12]}})", std::string(12, '\0'));
  EXPECT_THAT(std::string(SafetensorsFile::Open(path).status().message()), HasSubstr("C64[3] takes 24 bytes"));
}

TEST(Safetensors, PairsOfEarlierVersionsAreComplexNumbers) {
  using enum ElementType;
  EXPECT_EQ(DimsAs({.name = "z", .element = C64, .dims = {3, 4}}, C64), (Dims{3, 4}));
  EXPECT_EQ(DimsAs({.name = "z", .element = F32, .dims = {3, 4, 2}}, C64), (Dims{3, 4}));
  EXPECT_EQ(DimsAs({.name = "z", .element = F32, .dims = {2}}, C64), Dims{});
  EXPECT_EQ(DimsAs({.name = "z", .element = F32, .dims = {3, 4}}, C64), std::nullopt);
  EXPECT_EQ(DimsAs({.name = "z", .element = F32, .dims = {}}, C64), std::nullopt);
  EXPECT_EQ(DimsAs({.name = "z", .element = F64, .dims = {3, 2}}, C64), std::nullopt);
  EXPECT_EQ(DimsAs({.name = "z", .element = C64, .dims = {3}}, F32), std::nullopt);
  EXPECT_EQ(DimsAs({.name = "z", .element = F32, .dims = {3, 2}}, F32), (Dims{3, 2}));
}

// Pages of files in this process's memory.
uint64_t FilePages() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0, file = 0;
  statm >> size >> resident >> file;
  return file;
}

TEST(Safetensors, ReleasedTensorsLeaveMemoryAndCanBeReadAgain) {
  TemporaryFolder folder;
  const std::string path = folder / "in.safetensors";
  constexpr uint64_t kBytes = 8 << 20;
  WriteSafetensors(path, R"({"w":{"dtype":"U8","shape":[8388608],"data_offsets":[0,8388608]}})",
                   std::string(kBytes, 'x'));
  auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const TensorEntry& w = *file->Find("w");
  EXPECT_EQ(Values<char>(file->Bytes(w)), std::vector<char>(kBytes, 'x'));
  const uint64_t before = FilePages();
  file->Release(w);
  EXPECT_LE(FilePages() + kBytes / 4096 / 2, before);
  EXPECT_EQ(Values<char>(file->Bytes(w)), std::vector<char>(kBytes, 'x'));
}

TEST(Safetensors, ReadsPartsOfTensors) {
  TemporaryFolder folder;
  const std::string path = folder / "in.safetensors";
  WriteSafetensors(
      path,
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[5],"data_offsets":[2,7]}})",
      "xyabcde");
  auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<std::byte> part(3);
  ASSERT_TRUE(file->Read(*file->Find("w"), 1, part).ok());
  EXPECT_EQ(Values<char>(part), (std::vector<char>{'b', 'c', 'd'}));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 2);
  EXPECT_EQ(file->Read(*file->Find("w"), 1, part),
            absl::DataLossError(path + ": has become shorter while it was read"));
}

struct BadFile {
  const char* header;
  uint64_t data_bytes;
  const char* message;
};

class BadSafetensors : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSafetensors, IsRefusedByName) {
  TemporaryFolder folder;
  const std::string path = folder / "bad.safetensors";
  WriteSafetensors(path, GetParam().header, std::string(GetParam().data_bytes, 'x'));
  auto file = SafetensorsFile::Open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(file.status().message()), StartsWith(path + ": "));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(GetParam().message));
  EXPECT_EQ(file.status().message().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSafetensors,
    ::testing::Values(
        BadFile{"", 0, "not JSON"}, BadFile{"{", 0, "its header is not JSON; it may be truncated"},
        BadFile{"[]", 0, "not a JSON object"}, BadFile{"{\"a\xff\":1}", 0, "not JSON"},
        BadFile{R"({"w":1})", 0, "tensor 'w': its entry is not an object"},
        BadFile{R"({"w":{"shape":[],"data_offsets":[0,4]}})", 4, "tensor 'w': has no dtype"},
        BadFile{R"({"w":{"dtype":"F4","shape":[],"data_offsets":[0,4]}})", 4, "has dtype 'F4', which is not supported"},
        BadFile{R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "its shape is not a list"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "its shape is not a list"},
        BadFile{R"({"w":{"dtype":"F32","shape":3,"data_offsets":[0,4]}})", 4, "its shape is not a list"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1]}})", 4, "data_offsets are not two ascending numbers"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
                "data_offsets are not two ascending numbers"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4,
                "data_offsets are not two ascending numbers"},
        BadFile{R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
                "F32[2] takes 8 bytes, but its data_offsets span 4"},
        BadFile{R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                "its shape overflows"},
        BadFile{R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
                "ends at byte 8 of the data, but the file has only 4"},
        BadFile{R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551614,18446744073709551615]}})", 4,
                "ends at byte"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
                "begins at byte 4 of the data, but the tensors before it end at 0"},
        BadFile{
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
            6, "tensor 'b': begins at byte 2"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 9, "5 bytes after the last tensor"},
        BadFile{
            R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
            4, R"(its header is ambiguous: an object has the field "w" twice; expected each field once)"},
        BadFile{R"({"w":{"dtype":"F32","shape":[1],"shape":[0],"data_offsets":[0,4]}})", 4,
                R"(its header is ambiguous: an object has the field "shape" twice)"},
        BadFile{R"({"__metadata__":[]})", 0, "its __metadata__ is not an object"},
        BadFile{R"({"__metadata__":{"a":1}})", 0, "holds more than strings"},
        BadFile{"{\"a\\nb\":{}}", 0, "tensor 'a\\nb': has no dtype"}));

TEST(Safetensors, RefusesFilesThatAreNone) {
  TemporaryFolder folder;
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder / "none").status().message()),
              HasSubstr("none: cannot open: No such file or directory"));
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder.path()).status().message()), HasSubstr("not a regular file"));
  WriteText(folder / "short", "1234567");
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder / "short").status().message()),
              HasSubstr("shorter than 8 bytes"));
  WriteText(folder / "huge", std::string(8, '\xff'));
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder / "huge").status().message()),
              HasSubstr("its header would take"));
  WriteText(folder / "cut", std::string("\x40\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder / "cut").status().message()),
              HasSubstr("truncated: the header takes 64 bytes, the file has 2"));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  TemporaryFolder folder;
  WriteCounting(folder / "whole", {{"a", {2, 3}}, {"b", {}}});
  const std::string text = ReadText(folder / "whole");
  for (size_t size = 0; size < text.size(); ++size) {
    WriteText(folder / "cut", std::string_view(text).substr(0, size));
    EXPECT_FALSE(SafetensorsFile::Open(folder / "cut").ok()) << size;
  }
}

// Once 36 s: a tree that is filtered while it is parsed takes quadratic time. Compared with a fifth of the tensors, by
// which linear time grows fivefold and quadratic time 25-fold.
TEST(Safetensors, ReadsAndWritesManyTensorsInLinearTime) {
  TemporaryFolder folder;
  const auto seconds = [&](int count) {
    std::vector<TensorSpec> specs;
    for (int i = 0; i < count; ++i) specs.push_back({absl::StrCat("tensor_with_a_name_", i), ElementType::U8, {1}});
    double least = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
      timespec begin, end;  // of this process alone, whatever else the machine does
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
      auto writer = TensorFileWriter::Create(folder / "many", specs);
      EXPECT_TRUE(writer.ok() && writer->Commit().ok());
      auto file = SafetensorsFile::Open(folder / "many");
      EXPECT_TRUE(file.ok()) << file.status();
      if (file.ok()) EXPECT_EQ(file->tensors().size(), static_cast<size_t>(count));
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
      least = std::min(least, static_cast<double>(end.tv_sec - begin.tv_sec) +
                                  static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9);
    }
    return least;
  };
  EXPECT_LT(seconds(20'000), 12 * seconds(4'000));
}

TEST(Safetensors, DeepNestingDoesNotCrash) {
  TemporaryFolder folder;
  WriteSafetensors(folder / "deep", std::string(1'000'000, '['), "");
  EXPECT_FALSE(SafetensorsFile::Open(folder / "deep").ok());
  WriteSafetensors(folder / "closed", "{\"a\":" + std::string(300'000, '[') + std::string(300'000, ']') + "}", "");
  EXPECT_FALSE(SafetensorsFile::Open(folder / "closed").ok());
}

}  // namespace
}  // namespace sgd::data
