// The map against one entry per byte, for random changes.
#include "runtime/guard/origin_map.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace sgd::guard {
namespace {

using artifact::Slice;
using artifact::Space;

constexpr uint64_t kBytes = 24;

using Model = std::array<std::array<std::optional<Origin>, kBytes>, 2>;

size_t Number(const Slice& slice) { return slice.space() == Space::Private ? 0 : 1; }

std::optional<Origin> FindIn(const Model& model, const Slice& slice) {
  for (uint64_t i = 0; i < slice.size(); ++i) {
    if (const auto& origin = model[Number(slice)][slice.offset() + i]) return origin;
  }
  return std::nullopt;
}

TEST(OriginMap, DoesAsOneEntryPerByteDoes) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint64_t limit) { return random() % limit; };
    const auto slice = [&](uint64_t size) {
      return Slice(below(2) == 0 ? Space::Private : Space::Window, below(kBytes - size + 1), size);
    };
    OriginMap map;
    Model model;
    for (size_t change = 0; change < 30; ++change) {
      const uint64_t size = 1 + below(8);
      const Slice target = slice(size), source = slice(size);
      Model before = model;
      const uint64_t kind = below(3);
      const Origin origin{change, below(2) == 0 ? std::optional<size_t>(change + 100) : std::nullopt};
      if (kind == 0) map.Set(target, origin);
      if (kind == 1) map.Clear(target);
      if (kind == 2) map.Copy(source, target);
      for (uint64_t i = 0; i < size; ++i) {
        std::optional<Origin>& entry = model[Number(target)][target.offset() + i];
        entry = kind == 0   ? std::optional(origin)
                : kind == 1 ? std::nullopt
                            : before[Number(source)][source.offset() + i];
      }
      for (uint64_t begin = 0; begin < kBytes; ++begin) {
        for (const uint64_t length : {uint64_t{1}, uint64_t{5}}) {
          if (begin + length > kBytes) continue;
          for (const Space space : {Space::Private, Space::Window}) {
            const Slice asked(space, begin, length);
            ASSERT_EQ(map.Find(asked), FindIn(model, asked)) << "seed " << seed << ", change " << change;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sgd::guard
