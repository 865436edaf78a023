// Sums change with each bit of a tensor, and with none of its padding.
#include "runtime/guard/checksum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/data/random_values.h"

namespace sgd::guard {
namespace {

using artifact::ElementType;

// 5 x 3 values on rank 1 of 2: rows 3 and 4, then a row of padding.
data::Shard PaddedShard() {
  const data::TensorType type{ElementType::F32, {5, 3}, {3, 3}, {{{0, 1, 2}}, {}}};
  return {type, {{2}}, 1};
}

data::Shard WholeShard(uint64_t elements) {
  return {data::TensorType{ElementType::F32, {elements}, {elements}, {}}, {{1}}, 0};
}

TEST(Checksum, ChangesWithEveryBitOfTheTensorAlone) {
  const ShardBytes shard(PaddedShard());
  std::vector<float> values(9, 1.5f);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  const TensorSum sum = shard.Sum(bytes);
  std::vector<std::byte> changed(bytes.begin(), bytes.end());
  for (size_t bit = 0; bit < changed.size() * 8; ++bit) {
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(shard.Sum(changed).sum == sum.sum, bit >= 6 * 32) << bit;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(shard.Sum(changed), sum);
}

TEST(Checksum, SeesValuesThatAreNotFiniteButInPadding) {
  const ShardBytes shard(PaddedShard());
  for (size_t place = 0; place < 9; ++place) {
    std::vector<float> values(9, 2);
    values[place] = std::nanf("");
    EXPECT_EQ(shard.Sum(std::as_bytes(std::span(values))).is_finite, place >= 6) << place;
  }
}

// Larger than the blocks that are hashed at a time.
TEST(Checksum, CoversLargeTensors) {
  const uint64_t elements = 3 * 4096 + 5;
  const ShardBytes shard(WholeShard(elements));
  std::vector<float> values(elements, 0.25f);
  const TensorSum sum = shard.Sum(std::as_bytes(std::span(values)));
  for (const uint64_t place : {uint64_t{0}, uint64_t{4095}, uint64_t{4096}, elements - 1}) {
    values[place] = INFINITY;
    const TensorSum changed = shard.Sum(std::as_bytes(std::span(values)));
    EXPECT_NE(changed.sum, sum.sum) << place;
    EXPECT_FALSE(changed.is_finite) << place;
    values[place] = 0.25f;
  }
  EXPECT_EQ(shard.Sum(std::as_bytes(std::span(values))), sum);
}

TEST(Checksum, OfNothingIsFinite) { EXPECT_TRUE(ShardBytes(WholeShard(0)).Sum({}).is_finite); }

TEST(Checksum, CombinesSumsInTheirOrder) {
  const uint64_t a[] = {1, 2}, b[] = {2, 1};
  EXPECT_NE(CombinedSum(a), CombinedSum(b));
  EXPECT_EQ(CombinedSum(a), CombinedSum(a));
}

}  // namespace
}  // namespace sgd::guard
