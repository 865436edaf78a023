// Sets and histories of bytes against one entry per byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/device/byte_history.h"
#include "runtime/device/defined_bytes.h"

namespace sgd::device {
namespace {

using artifact::Slice;
using artifact::Space;

constexpr uint64_t kBytes = 40;

Slice RandomSlice(std::mt19937& random) {
  const uint64_t begin = random() % kBytes;
  return {Space::Private, begin, random() % (kBytes - begin + 1)};
}

TEST(DefinedBytes, CountsWhatIsMissing) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    DefinedBytes set;
    std::vector<bool> expected(kBytes);
    for (int i = 0; i < 12; ++i) {
      const Slice added = RandomSlice(random), asked = RandomSlice(random);
      set.Add(added);
      for (uint64_t at = 0; at < added.size(); ++at) expected[added.offset() + at] = true;
      const auto first = expected.begin() + static_cast<std::ptrdiff_t>(asked.offset());
      ASSERT_EQ(set.Missing(asked), std::count(first, first + static_cast<std::ptrdiff_t>(asked.size()), false));
      ASSERT_EQ(set.Missing({Space::Window, 0, 7}), 7u);
    }
  }
}

TEST(ByteHistory, KeepsTheLastOfEachStream) {
  constexpr uint32_t kStreams = 3;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ByteHistory history(kStreams);
    std::vector<Progress> written(kBytes, Progress(kStreams, 0)), read = written;
    for (uint64_t number = 1; number < 30; ++number) {
      const Slice asked = RandomSlice(random), added = RandomSlice(random);
      for (bool is_write : {false, true}) {
        Progress needed(kStreams, 0), expected(kStreams, 0);
        history.Before(asked, is_write, needed);
        for (uint64_t at = asked.offset(); at < asked.offset() + asked.size(); ++at) {
          for (uint32_t s = 0; s < kStreams; ++s) {
            expected[s] = std::max({expected[s], written[at][s], is_write ? read[at][s] : 0});
          }
        }
        ASSERT_EQ(needed, expected);
      }
      const bool is_write = random() % 2 == 0;
      const uint32_t stream = static_cast<uint32_t>(random() % kStreams);
      history.Add(added, is_write, stream, number);
      for (uint64_t at = 0; at < added.size(); ++at) (is_write ? written : read)[added.offset() + at][stream] = number;
    }
  }
}

}  // namespace
}  // namespace sgd::device
