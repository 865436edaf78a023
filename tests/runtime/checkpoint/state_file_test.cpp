// Files are the bytes in memory, wherever these lie and however many they are.
#include "runtime/checkpoint/state_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "runtime/data/zstd_frames.h"
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

// Compressed bytes are decompressed to those of memory, and `stored` is what lies on the disk.
TEST(StateFile, ACompressedOneHasTheBytesOfMemory) {
  data::TemporaryFolder folder;
  // As much as fills several chunks when it is compressed, and what ends with a frame, and nothing.
  for (const size_t size : {size_t{0}, size_t{5}, size_t{2 << 20}, 3 * kMost}) {
    std::vector<std::byte> image(size);
    for (size_t i = 0; i < size; ++i) image[i] = static_cast<std::byte>(i * i * 31 + i / 4096);
    const auto written = WriteCompressedStateFile(folder / "file", image, 1, kNever);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(written->bytes, size);
    const auto stored = DigestFile(folder / "file", Manifest::Checksum::kXxh3);
    ASSERT_TRUE(stored.ok());
    EXPECT_EQ(stored->checksum, written->stored_checksum);
    EXPECT_EQ(stored->bytes, written->stored_bytes);
    const auto frames = data::ZstdFrames::Open(folder / "file", size, kFrameBytes);
    ASSERT_TRUE(frames.ok()) << frames.status();
    std::vector<std::byte> read(size);
    ASSERT_TRUE((*frames)->Read(0, read).ok());
    EXPECT_EQ(read, image);
    const auto share = EstimateCompression(image, 1);
    ASSERT_TRUE(share.ok());
    if (size > 1000) EXPECT_NEAR(*share, static_cast<double>(stored->bytes) / static_cast<double>(size), 0.1);
  }
}

// Writes that are in flight when one fails.
TEST(StateFile, AFileThatMayNotGrowFurtherIsAnError) {
  data::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {9 << 20, 9 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::vector<std::byte> image(40 << 20);
    std::mt19937 random(3);
    for (size_t i = 0; i + 4 <= image.size(); i += 4) {
      const uint32_t number = random();
      std::memcpy(image.data() + i, &number, sizeof(number));
    }
    const auto plain = WriteStateFile(folder / "file", image, kNever);
    const auto compressed = WriteCompressedStateFile(folder / "file", image, 1, kNever);
    const bool are_told = plain.status().message().find("File too large") != std::string::npos &&
                          compressed.status().message().find("cannot write: File too large") != std::string::npos;
    _exit(are_told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
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
