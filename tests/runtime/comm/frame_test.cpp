// Frames through pieces of every size, and what becomes of bytes that are none.
#include "runtime/comm/tcp/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

TEST(Frame, ComesThroughPiecesOfAnySize) {
  const std::vector<std::string> payloads = {"", "a", std::string(1000, 'x'), std::string("\0\1", 2)};
  for (size_t piece : {1, 7, 64, 5000}) {
    FrameEncoder encoder("key");
    FrameDecoder decoder("key");
    std::string wire;
    for (size_t i = 0; i < payloads.size(); ++i) wire += *encoder.Encode(static_cast<uint32_t>(i), i * 10, payloads[i]);
    absl::Status error;
    size_t count = 0;
    for (size_t at = 0; at < wire.size(); at += piece) {
      decoder.Feed(std::string_view(wire).substr(at, piece));
      while (const std::optional<Frame> frame = decoder.Next(error)) {
        EXPECT_EQ(frame->kind, count);
        EXPECT_EQ(frame->number, count * 10);
        EXPECT_EQ(frame->payload, payloads[count]);
        ++count;
      }
    }
    EXPECT_TRUE(error.ok()) << error;
    EXPECT_EQ(count, payloads.size());
  }
}

// The decoder's error about these bytes.
std::string ErrorOf(const std::string& wire, const std::string& key = "key") {
  FrameDecoder decoder(key);
  decoder.Feed(wire);
  absl::Status error;
  while (decoder.Next(error).has_value()) {
  }
  return std::string(error.message());
}

TEST(Frame, NoByteCanBeChanged) {
  const std::string wire = *FrameEncoder("key").Encode(1, 2, "payload");
  EXPECT_EQ(ErrorOf(wire), "");
  for (size_t at = 8; at < wire.size(); ++at) {  // the length is bytes 0 to 7
    std::string other = wire;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_EQ(ErrorOf(other), "a message came that was changed on its way") << at;
  }
  EXPECT_EQ(ErrorOf(wire, "other"), "a message came that was changed on its way");
}

TEST(Frame, NoneCanBeLeftOutOrRepeated) {
  FrameEncoder encoder("key");
  const std::string first = *encoder.Encode(1, 0, "a"), second = *encoder.Encode(1, 0, "a");
  EXPECT_EQ(ErrorOf(first + second), "");
  EXPECT_NE(ErrorOf(second), "");
  EXPECT_NE(ErrorOf(first + first), "");
}

TEST(Frame, LengthsAreBounded) {
  std::string wire = *FrameEncoder("key").Encode(1, 0, "");
  const uint64_t length = kMaxPayload + 1;
  std::memcpy(wire.data(), &length, sizeof(length));
  EXPECT_THAT(ErrorOf(wire), HasSubstr("a message of 16777217 bytes came, which is none of ours"));
  EXPECT_EQ(ErrorOf("GET / HTTP/1.1\r\nHost: x\r\n\r\n").substr(0, 12), "a message of");
}

}  // namespace
}  // namespace sgd::comm
