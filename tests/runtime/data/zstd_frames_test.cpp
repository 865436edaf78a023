// Any part of a compressed file is read; what was changed in it is refused, and sizes that it declares are not
// believed.
#include "runtime/data/zstd_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdlib>
#include <thread>

#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kFrame = 4096;

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Neither all alike nor noise.
std::string Original(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i % 7 == 0 ? i * 2654435761u >> 13 : i / 512);
  return text;
}

std::string Compressed(const std::string& text, uint64_t frame_bytes = kFrame) {
  auto writer = ZstdFrameWriter::Create(1);
  EXPECT_TRUE(writer.ok()) << writer.status();
  std::string file;
  for (size_t at = 0; at < text.size(); at += frame_bytes)
    file +=
        TextOf(*writer->Compress(std::as_bytes(std::span(text)).subspan(at, std::min(frame_bytes, text.size() - at))));
  return file + TextOf(writer->Index());
}

// All of a file, or its first error.
absl::StatusOr<std::string> ReadAll(const std::string& path, uint64_t bytes) {
  auto frames = ZstdFrames::Open(path, bytes, kFrame);
  if (!frames.ok()) return frames.status();
  std::string text(bytes, '\0');
  absl::Status status = (*frames)->Read(0, std::as_writable_bytes(std::span(text)));
  if (!status.ok()) return status;
  return text;
}

TEST(ZstdFrames, AnyPartIsRead) {
  TemporaryFolder folder;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{kFrame}, size_t{kFrame + 1}, size_t{40 * kFrame - 3}}) {
    const std::string text = Original(size);
    WriteText(folder / "file", Compressed(text));
    const auto all = ReadAll(folder / "file", size);
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(*all, text);
    const auto frames = ZstdFrames::Open(folder / "file", size, kFrame);
    ASSERT_TRUE(frames.ok());
    for (size_t begin = 0; begin < size; begin += 1 + size / 17) {
      for (size_t count = 1; count <= size - begin; count = count * 5 + 1) {
        std::string part(count, '\0');
        ASSERT_TRUE((*frames)->Read(begin, std::as_writable_bytes(std::span(part))).ok());
        ASSERT_EQ(part, text.substr(begin, count)) << begin;
        ASSERT_EQ(TextOf((*frames)->Keep(begin, count)), part);
        (*frames)->Forget(begin, count);
      }
    }
    EXPECT_TRUE((*frames)->fault().ok());
  }
}

TEST(ZstdFrames, ThreadsReadAtOnce) {
  TemporaryFolder folder;
  const std::string text = Original(30 * kFrame);
  WriteText(folder / "file", Compressed(text));
  const auto frames = ZstdFrames::Open(folder / "file", text.size(), kFrame);
  ASSERT_TRUE(frames.ok());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t begin = 100 * thread; begin + 3000 < text.size(); begin += 1500) {
        wrong += TextOf((*frames)->Keep(begin, 3000)) != text.substr(begin, 3000);
        wrong += TextOf((*frames)->Keep(kFrame, kFrame)) != text.substr(kFrame, kFrame);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ZstdFrames, ZstdItselfReadsThem) {
  TemporaryFolder folder;
  const std::string text = Original(5 * kFrame + 7), file = Compressed(text);
  std::string out(text.size(), '\0');
  ASSERT_EQ(ZSTD_decompress(out.data(), out.size(), file.data(), file.size()), text.size());
  EXPECT_EQ(out, text);
}

// Nothing but the bytes that were compressed is ever returned.
TEST(ZstdFrames, EveryFlipAndCutIsRefusedOrHarmless) {
  TemporaryFolder folder;
  const std::string text = Original(3 * kFrame + 100), file = Compressed(text), path = folder / "file";
  int cases = 0, refused = 0;
  // Of frames some bytes, of the index all.
  const size_t index = file.size() - 8 - 4 * 8 - 9;
  for (size_t i = 0; i < file.size(); i += i < index ? 1 + index / 150 : 1) {
    cases += 2;
    for (const bool cuts : {false, true}) {
      std::string bad = file;
      bad[i] ^= static_cast<char>(1 << i % 8);
      WriteText(path, cuts ? file.substr(0, i) : bad);
      const auto all = ReadAll(path, text.size());
      if (all.ok()) {
        // A few bits of a frame's header mean nothing.
        EXPECT_FALSE(cuts) << i;
        EXPECT_EQ(*all, text) << i;
        continue;
      }
      ++refused;
      EXPECT_THAT(std::string(all.status().message()), HasSubstr(path + ": "));
    }
  }
  EXPECT_GT(refused, cases - 5);
}

TEST(ZstdFrames, SizesThatAFileDeclaresAreNotBelieved) {
  TemporaryFolder folder;
  const std::string text = Original(2 * kFrame), file = Compressed(text), path = folder / "file";
  WriteText(path, file);
  const auto message = [&](uint64_t bytes) { return std::string(ReadAll(path, bytes).status().message()); };
  EXPECT_THAT(message(uint64_t{1} << 60), HasSubstr("has 2 frames, but 1152921504606846976 bytes are 281474976710656"));
  EXPECT_THAT(message(2 * kFrame - 1), HasSubstr("frame 1 has 4096 bytes instead of 4095"));
  // As many frames as the manifest wants, in a file that has no room for their sizes.
  std::string many = file;
  const uint32_t count = 0xFFFFFFFF;
  std::memcpy(many.data() + many.size() - 9, &count, sizeof(count));
  WriteText(path, many);
  EXPECT_THAT(message(count * kFrame), HasSubstr("is too short for an index of 4294967295 frames"));
  // A frame that would fill 2 GiB where the index promises 4096 bytes.
  std::string bomb(1 << 20, 'x');
  std::string frame(ZSTD_compressBound(bomb.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bomb.data(), bomb.size(), 1));
  const std::string last = file.substr(file.size() - 8 - 2 * 8 - 9);
  std::string index = last;
  const auto size = static_cast<uint32_t>(frame.size());
  for (const size_t entry : {8, 16}) std::memcpy(index.data() + entry, &size, sizeof(size));
  WriteText(path, frame + frame + index);
  EXPECT_THAT(message(2 * kFrame), HasSubstr("frame 0, bytes 0 to "));
  EXPECT_THAT(message(2 * kFrame), HasSubstr("is corrupt: Destination buffer is too small"));
  // A frame of fewer bytes than promised: another one with the same index.
  WriteText(path, file);
  const auto frames = ZstdFrames::Open(path, 2 * kFrame, kFrame);
  std::string none = file;
  std::memset(none.data(), 0, 20);
  WriteText(path, none);
  const auto broken = ZstdFrames::Open(path, 2 * kFrame, kFrame);
  ASSERT_TRUE(broken.ok());
  EXPECT_EQ(TextOf((*broken)->Keep(0, kFrame)), std::string(kFrame, '\0'));
  EXPECT_THAT(std::string((*broken)->fault().message()), HasSubstr(path + ": frame 0, bytes 0 to "));
}

// Numbers drawn at random where a frame, the index or its end was.
TEST(ZstdFrames, NoiseIsRefused) {
  TemporaryFolder folder;
  const std::string text = Original(6 * kFrame + 50), file = Compressed(text), path = folder / "file";
  std::srand(7);
  for (int round = 0; round < 100; ++round) {
    std::string bad = file;
    const size_t begin = std::rand() % bad.size(), count = 1 + std::rand() % 40;
    for (size_t i = begin; i < std::min(begin + count, bad.size()); ++i) bad[i] = static_cast<char>(std::rand());
    WriteText(path, bad);
    const auto all = ReadAll(path, text.size());
    if (all.ok()) EXPECT_EQ(*all, text) << round;
  }
}

}  // namespace
}  // namespace sgd::data
