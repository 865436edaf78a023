// Files of all formats are read, or refused in a line: whatever their bytes are, nothing outside of them is touched.
#include "runtime/data/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/data/npy.h"
#include "runtime/data/zip_directory.h"
#include "tests/runtime/data/data_formats.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr DataFiles::Limits kNothingLoaded{.inflated = 1 << 20, .loaded = 0};

template <typename T>
std::vector<T> ValuesOf(const DataFiles& files, const DataTensor& tensor) {
  std::vector<T> values(tensor.entry.size / sizeof(T));
  ReadWatch watch;
  const absl::Status status = files.Read(tensor, 0, std::as_writable_bytes(std::span(values)), watch);
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

std::string Refusal(const std::string& path, const std::string& bytes) {
  WriteText(path, bytes);
  DataFiles files(kNothingLoaded);
  const absl::Status status = files.Open(path).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), StartsWith(path + ": "));
  return std::string(status.message().substr(std::min(status.message().size(), path.size() + 2)));
}

const std::vector<int32_t> kSix = {1, 2, 3, 4, 5, 6};

TEST(DataFiles, ReadsNpyInMemoryAndFromDisk) {
  TemporaryFolder folder;
  WriteText(folder / "x-00002-of-00004.npy", Npy("<i4", "(3, 2)", TextOfValues(kSix)));
  WriteText(folder / "one.npy", Npy("<f8", "()", TextOfValues<double>({0.5})));
  for (uint64_t loaded : {0, 1 << 20}) {
    DataFiles files({.inflated = 0, .loaded = loaded});
    auto tensors = files.Open(folder / "x-00002-of-00004.npy");
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    ASSERT_EQ(tensors->size(), 1u);
    EXPECT_EQ((*tensors)[0].entry.name, "x");
    EXPECT_EQ((*tensors)[0].entry.dims, (Dims{3, 2}));
    EXPECT_EQ((*tensors)[0].memory != nullptr, loaded > 0);
    EXPECT_EQ(ValuesOf<int32_t>(files, (*tensors)[0]), kSix);
    EXPECT_EQ(ValuesOf<double>(files, (*files.Open(folder / "one.npy"))[0]), std::vector<double>{0.5});
  }
}

TEST(DataFiles, ReadsNpzStoredDeflatedAndOf64Bits) {
  TemporaryFolder folder;
  const std::string x = Npy("<i4", "(3, 2)", TextOfValues(kSix)), y = Npy("|u1", "(3,)", "abc");
  for (bool zip64 : {false, true}) {
    WriteText(folder / "d.npz", Zip({{"y.npy", y, true}, {"x.npy", x, false}}, zip64));
    DataFiles files(kNothingLoaded);
    auto tensors = files.Open(folder / "d.npz");
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    ASSERT_EQ(tensors->size(), 2u);
    EXPECT_EQ((*tensors)[0].entry.name, "x");
    EXPECT_EQ((*tensors)[0].memory, nullptr) << "stored members stay on the disk";
    EXPECT_EQ(ValuesOf<int32_t>(files, (*tensors)[0]), kSix);
    EXPECT_EQ(ValuesOf<char>(files, (*tensors)[1]), (std::vector<char>{'a', 'b', 'c'}));
  }
}

TEST(DataFiles, RefusesNpyThatIsNot) {
  TemporaryFolder folder;
  const std::string data = TextOfValues(kSix), path = folder / "x.npy";
  const std::string good = Npy("<i4", "(3, 2)", data);
  EXPECT_THAT(Refusal(path, good.substr(0, 9)), HasSubstr("truncated: its .npy header is cut short"));
  EXPECT_THAT(Refusal(path, good.substr(0, 40)), HasSubstr("truncated: its .npy header takes"));
  EXPECT_THAT(Refusal(path, good.substr(0, good.size() - 1)),
              HasSubstr("truncated: I32[3,2] takes 24 bytes, but 23 follow its header"));
  EXPECT_THAT(Refusal(path, good + "x"), HasSubstr("I32[3,2] takes 24 bytes, but 25 follow its header"));
  EXPECT_THAT(Refusal(path, Npy(">i4", "(3, 2)", data)), HasSubstr("has dtype '>i4', which is not supported"));
  EXPECT_THAT(Refusal(path, Npy("|O", "(3, 2)", data)), HasSubstr("has dtype '|O'"));
  EXPECT_THAT(Refusal(path, Npy("<i4", "(4294967296, 4294967296, 4)", data)), HasSubstr("its shape overflows"));
  EXPECT_THAT(Refusal(path, Npy("<i4", "(99999999999999999999,)", data)), HasSubstr("is no dictionary"));
  EXPECT_THAT(Refusal(path, Npy("<i4", "(-3, 2)", data)), HasSubstr("is no dictionary"));
  EXPECT_THAT(Refusal(path, NpyWithHeader("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (6,)}", data)),
              HasSubstr("holds records"));
  EXPECT_THAT(Refusal(path, NpyWithHeader("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2)}", data)),
              HasSubstr("is in Fortran order"));
  EXPECT_THAT(Refusal(path, NpyWithHeader("{'descr': '<i4', 'shape': (3, 2)}", data)), HasSubstr("is no dictionary"));
  EXPECT_THAT(Refusal(path, std::string("\x93NUMPY\x07\x00", 8) + good.substr(8)), HasSubstr("has version 7"));
  EXPECT_THAT(Refusal(path, std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12)), HasSubstr("header would take"));
}

TEST(DataFiles, RefusesArchivesThatLie) {
  TemporaryFolder folder;
  const std::string path = folder / "d.npz", x = Npy("<i4", "(3, 2)", TextOfValues(kSix));
  const std::string good = Zip({{"x.npy", x, true}, {"y.npy", x, false}});
  EXPECT_THAT(Refusal(path, good.substr(0, good.size() - 1)), HasSubstr("without the directory at its end"));
  EXPECT_THAT(Refusal(path, good.substr(1)), HasSubstr("not a safetensors file"));
  std::string bad = good;
  bad[bad.find("PK\x03\x04", 4) + 26] = 40;  // the second name would be longer
  EXPECT_THAT(Refusal(path, bad), HasSubstr("damaged zip archive"));
  bad = good;
  const size_t entry = bad.find("PK\x01\x02"), second = bad.find("PK\x01\x02", entry + 4);
  bad.replace(second + 42, 4, bad.substr(entry + 42, 4));  // both members are the first one's bytes
  bad.replace(second + 20, 8, bad.substr(entry + 20, 8));
  bad.replace(second + 10, 2, bad.substr(entry + 10, 2));
  EXPECT_THAT(Refusal(path, bad), HasSubstr("members 'x.npy' and 'y.npy' overlap"));
  bad = good;
  bad[entry + 8] = 1;
  EXPECT_THAT(Refusal(path, bad), HasSubstr("member 'x.npy': is encrypted"));
  bad = good;
  bad[entry + 10] = 12;
  EXPECT_THAT(Refusal(path, bad), HasSubstr("is compressed by method 12"));
  bad = good;
  bad[entry + 16] ^= 1;
  EXPECT_THAT(Refusal(path, bad), HasSubstr("member 'x.npy': is damaged: its CRC is not the directory's"));
  for (const auto& [size, message] : {std::pair(int(x.size()) - 1, "more than its"),
                                      {int(x.size()) + 1, "bytes when inflated; expected"},
                                      {1 << 30, "cannot be 1073741824 when inflated"}}) {
    bad = good;
    std::memcpy(bad.data() + entry + 24, &size, 4);
    DataFiles files;  // which has room for a GiB
    WriteText(path, bad);
    EXPECT_THAT(std::string(files.Open(path).status().message()), HasSubstr(message));
  }
  EXPECT_THAT(Refusal(path, Zip({{"x.npy", x, false}, {"x.npy", x, false}})),
              HasSubstr("two members for the tensor 'x'"));
  EXPECT_THAT(Refusal(path, Zip({{"readme.txt", "hello", false}})), HasSubstr("member 'readme.txt': not a .npy file"));
}

TEST(DataFiles, BoundsWhatIsInflated) {
  TemporaryFolder folder;
  // A bomb: 8 MiB of zeros in 8 KiB, and two of half a limit each.
  const std::string bomb = Npy("|u1", "(8388608,)", std::string(8 << 20, '\0'));
  EXPECT_THAT(Refusal(folder / "bomb.npz", Zip({{"x.npy", bomb, true}})),
              HasSubstr("compressed members of the data are kept in memory, at most 1048576 bytes"));
  const std::string part = Npy("|u1", "(600000,)", std::string(600000, '\0'));
  EXPECT_THAT(Refusal(folder / "two.npz", Zip({{"x.npy", part, true}, {"y.npy", part, true}})),
              HasSubstr("store it uncompressed"));
}

TEST(DataFiles, OpensRawFilesOfWholeElements) {
  TemporaryFolder folder;
  WriteText(folder / "t.bin", TextOfValues<uint16_t>({1, 2, 65535}));
  DataFiles files(kNothingLoaded);
  auto tensor = files.OpenRaw(folder / "t.bin", ElementType::U16);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(ValuesOf<uint16_t>(files, *tensor), (std::vector<uint16_t>{1, 2, 65535}));
  EXPECT_THAT(std::string(files.OpenRaw(folder / "t.bin", ElementType::U32).status().message()),
              HasSubstr("t.bin: has 6 bytes, which is no number of U32, 4 bytes each; it is truncated"));
  EXPECT_THAT(std::string(files.OpenRaw(folder / "none.bin", ElementType::U32).status().message()),
              HasSubstr("none.bin: cannot open"));
  EXPECT_THAT(std::string(files.OpenRaw(folder.path(), ElementType::U32).status().message()),
              HasSubstr("not a regular file"));
}

TEST(DataFiles, NoticesFilesThatChange) {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  WriteText(path, Npy("<i4", "(3, 2)", TextOfValues(kSix)));
  DataFiles files(kNothingLoaded);
  auto tensors = files.Open(path);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(truncate(path.c_str(), 80), 0);
  std::vector<std::byte> bytes(24);
  ReadWatch watch;
  EXPECT_EQ(files.Read((*tensors)[0], 0, bytes, watch).message(), path + ": has become shorter while it was read");
}

TEST(FilePool, KeepsFewFilesOpen) {
  TemporaryFolder folder;
  FilePool pool(/*most_open=*/2);
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) {
    paths.push_back(folder / absl::StrCat(i));
    WriteText(paths.back(), absl::StrCat(i));
    ASSERT_TRUE(pool.Add(paths.back()).ok());
  }
  ReadWatch watch;
  std::byte byte;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(pool.Read(i, 0, {&byte, 1}, watch).ok());
      EXPECT_EQ(static_cast<char>(byte), static_cast<char>('0' + i));
    }
  }
  EXPECT_EQ(watch.total().reads, 10u);
  // Those that are closed must be the same when they are opened again.
  WriteText(folder / "other", "x");
  std::filesystem::rename(folder / "other", paths[0]);
  EXPECT_THAT(std::string(pool.Read(0, 0, {&byte, 1}, watch).message()),
              HasSubstr(paths[0] + ": has changed since this run began"));
  std::filesystem::remove(paths[1]);
  EXPECT_THAT(std::string(pool.Read(1, 0, {&byte, 1}, watch).message()), HasSubstr("cannot open"));
}

// What DataFiles does with headers, over a copy that ends where its memory does: under the address sanitizer a read
// outside of it ends the test.
void ReadHeaders(const std::string& text) {
  const std::vector<char> copy(text.begin(), text.end());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(copy));
  const auto read_npy = [](std::span<const std::byte> npy) {
    const auto entry = ReadNpyHeader(npy, npy.size());
    if (entry.ok()) EXPECT_EQ(entry->offset + entry->size, npy.size());
  };
  if (IsNpy(bytes)) read_npy(bytes);
  if (!IsZip(bytes)) return;
  const auto members = ReadZipDirectory(bytes);
  if (!members.ok()) return;
  for (const ZipMember& member : *members) {
    ASSERT_LE(member.stored_size, bytes.size());
    ASSERT_LE(member.offset, bytes.size() - member.stored_size);
    if (!member.is_deflated) {
      read_npy(bytes.subspan(member.offset, member.stored_size));
    } else if (const auto inflated = Inflate(bytes, member); inflated.ok()) {
      EXPECT_EQ(inflated->size(), member.size);
      read_npy(*inflated);
    }
  }
}

TEST(DataFiles, SurvivesEveryTruncationAndEveryByte) {
  const std::string x = Npy("<i4", "(3, 2)", TextOfValues(kSix));
  for (const std::string& good :
       {x, Zip({{"x.npy", x, true}, {"y.npy", x, false}}), Zip({{"x.npy", x, true}}, /*zip64=*/true)}) {
    for (size_t size = 0; size <= good.size(); ++size) ReadHeaders(good.substr(0, size));
    for (size_t at = 0; at < good.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string bad = good;
        bad[at] = static_cast<char>(value);
        ReadHeaders(bad);
      }
    }
  }
}

}  // namespace
}  // namespace sgd::data
