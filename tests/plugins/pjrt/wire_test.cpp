#include "plugins/pjrt/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/pjrt/compile_options.h"

namespace sgd::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WireTest, ReadsWhatItWrites) {
  std::string message;
  WriteInteger(message, 4, uint64_t{1} << 63);
  WriteBytes(message, 300, "text");
  WritePacked(message, 2, std::vector<int64_t>{0, 127, 128, -1});
  std::vector<uint64_t> integers;
  std::string text;
  std::vector<int64_t> packed;
  ASSERT_TRUE(ReadWire(message, [&](const WireField& field) {
                if (field.number == 4) integers.push_back(field.integer);
                if (field.number == 300) text = field.bytes;
                if (field.number != 2) return absl::OkStatus();
                return ReadIntegers(field, [&](uint64_t value) {
                  packed.push_back(static_cast<int64_t>(value));
                  return absl::OkStatus();
                });
              }).ok());
  EXPECT_THAT(integers, ElementsAre(uint64_t{1} << 63));
  EXPECT_EQ(text, "text");
  EXPECT_THAT(packed, ElementsAre(0, 127, 128, -1));
}

// Every prefix of a message is one or is refused, and is never read beyond its end.
TEST(WireTest, RefusesTruncatedMessages) {
  std::string message;
  WriteBytes(message, 3, std::string(200, 'x'));
  for (size_t size = 1; size < message.size(); ++size)
    EXPECT_FALSE(
        ReadWire(std::string_view(message).substr(0, size), [](const WireField&) { return absl::OkStatus(); }).ok());
}

TEST(CompileOptionsTest, ReadsPartitionsAndDevices) {
  std::string build;
  WriteInteger(build, 4, 1);
  WriteInteger(build, 5, 2);
  WriteBytes(build, 9, WriteDeviceAssignment({3, 1}));
  std::string options;
  WriteBytes(options, 3, build);
  auto read = ReadCompileOptions(options);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->partitions, 2);
  EXPECT_THAT(read->devices, ElementsAre(3, 1));
}

TEST(CompileOptionsTest, RefusesReplicas) {
  std::string build, options;
  WriteInteger(build, 4, 2);
  WriteBytes(options, 3, build);
  EXPECT_THAT(std::string(ReadCompileOptions(options).status().message()), HasSubstr("2 replicas; expected 1"));
}

}  // namespace
}  // namespace sgd::pjrt
