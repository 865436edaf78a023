#include "plugins/pjrt/op_sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/pjrt/wire.h"

namespace sgd::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An 8x8 tensor on a mesh of 2x2 ranks.
std::vector<data::Shard> ShardsOf(std::vector<std::vector<comm::AxisRef>> sharding, data::Dims local) {
  const comm::Mesh mesh({2, 2});
  data::TensorType type;
  type.global_dims = {8, 8};
  type.local_dims = std::move(local);
  type.sharding = std::move(sharding);
  std::vector<data::Shard> shards;
  for (uint32_t rank = 0; rank < 4; ++rank) shards.emplace_back(type, mesh, rank);
  return shards;
}

std::vector<int64_t> FieldOf(std::string_view proto, uint32_t number) {
  std::vector<int64_t> values;
  EXPECT_TRUE(ReadWire(proto, [&](const WireField& field) {
                if (field.number != number) return absl::OkStatus();
                return ReadIntegers(field, [&](uint64_t value) {
                  values.push_back(static_cast<int64_t>(value));
                  return absl::OkStatus();
                });
              }).ok());
  return values;
}

TEST(OpShardingTest, TilesListTheirRanks) {
  // Dimension 0 over y, dimension 1 over x: tiles go to ranks 0, 2, 1, 3.
  auto proto = OpShardingOf(ShardsOf({{{1, 1, 2}}, {{0, 1, 2}}}, {4, 4}));
  ASSERT_TRUE(proto.ok()) << proto.status();
  EXPECT_THAT(FieldOf(*proto, 3), ElementsAre(2, 2));
  EXPECT_THAT(FieldOf(*proto, 4), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(FieldOf(*proto, 6), IsEmpty());
}

TEST(OpShardingTest, ReplicasAreTheLastDimension) {
  auto proto = OpShardingOf(ShardsOf({{{1, 1, 2}}, {}}, {4, 8}));
  ASSERT_TRUE(proto.ok()) << proto.status();
  EXPECT_THAT(FieldOf(*proto, 3), ElementsAre(2, 1, 2));
  EXPECT_THAT(FieldOf(*proto, 4), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(FieldOf(*proto, 6), ElementsAre(1));
}

// Replicated over x, a sum over y.
TEST(OpShardingTest, SummandsComeBehindReplicas) {
  const comm::Mesh mesh({2, 2});
  data::TensorType type;
  type.global_dims = {2, 8, 8};
  type.local_dims = {1, 8, 8};
  type.sharding = {{{1, 1, 2}}, {}, {}};
  type.has_summands = true;
  std::vector<data::Shard> shards;
  for (uint32_t rank = 0; rank < 4; ++rank) shards.emplace_back(type, mesh, rank);
  auto proto = OpShardingOf(shards);
  ASSERT_TRUE(proto.ok()) << proto.status();
  EXPECT_THAT(FieldOf(*proto, 3), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(FieldOf(*proto, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(FieldOf(*proto, 8), ElementsAre(0, 6));
}

TEST(OpShardingTest, RefusesShardsThatDoNotDivide) {
  EXPECT_THAT(std::string(OpShardingOf(ShardsOf({{{1, 1, 2}}, {}}, {5, 8})).status().message()),
              HasSubstr("dimension 0 of size 8 is in shards of 5"));
}

// Two of four ranks have shards of 4, the others none.
TEST(OpShardingTest, RefusesEmptyShards) {
  EXPECT_THAT(std::string(OpShardingOf(ShardsOf({{{0, 1, 2}, {1, 1, 2}}, {}}, {4, 8})).status().message()),
              HasSubstr("dimension 0 of size 8 is in shards of 4"));
}

}  // namespace
}  // namespace sgd::pjrt
