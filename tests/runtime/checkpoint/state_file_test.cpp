// Files are the bytes in memory, wherever these lie and however many they are.
#include "runtime/checkpoint/state_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <numeric>

#include "tests/runtime/data/tensor_files.h"

namespace sgd::checkpoint {
namespace {

constexpr size_t kMost = (8 << 20) + 4096 + 5;
const auto kNever = [] { return absl::OkStatus(); };

// From a page on, as an image in memory begins, and from behind it.
TEST(StateFile, HasTheBytesOfMemory) {
  void* pages = mmap(nullptr, kMost + 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(pages);
  for (size_t i = 0; i < kMost + 8; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 4096);
  data::TemporaryFolder folder;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{8 << 20}, kMost}) {
    for (const size_t shift : {0, 8}) {
      const std::span<const std::byte> image(bytes + shift, size);
      data::WriteText(folder / "file", std::string(9000, 'x'));
      const auto written = WriteStateFile(folder / "file", image, kNever);
      ASSERT_TRUE(written.ok()) << written.status();
      EXPECT_EQ(written->bytes, size);
      const std::string text = data::ReadText(folder / "file");
      ASSERT_EQ(text.size(), size);
      EXPECT_EQ(std::memcmp(text.data(), image.data(), size), 0) << size << " " << shift;
      const auto read = DigestFile(folder / "file", Manifest::Checksum::kXxh3);
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(read->checksum, written->checksum);
      EXPECT_EQ(read->bytes, size);
    }
  }
  munmap(pages, kMost + 8);
}

TEST(StateFile, AWriteIsGivenUpBetweenChunks) {
  std::vector<std::byte> image(kMost);
  data::TemporaryFolder folder;
  int asked = 0;
  const auto status = WriteStateFile(
      folder / "file", image, [&] { return ++asked == 2 ? absl::CancelledError("the run ends") : absl::OkStatus(); });
  EXPECT_TRUE(absl::IsCancelled(status.status())) << status.status();
}

}  // namespace
}  // namespace sgd::checkpoint
