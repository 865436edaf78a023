// Replicas are the ranks whose shards begin at the same place; the odd one is found in every position.
#include "runtime/guard/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::guard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr comm::AxisRef kData{0, 1, 2}, kModel{1, 1, 3};

HeldTensor Tensor(std::vector<std::vector<comm::AxisRef>> sharding, std::vector<artifact::Holder> holders = {{-1, 0}}) {
  data::TensorType type{artifact::ElementType::F32, {12, 12}, {12, 12}, sharding};
  for (size_t d = 0; d < sharding.size(); ++d) type.local_dims[d] = 12 / comm::AxesSize(sharding[d]);
  return {type, holders};
}

// Two ranks along data times three along model, by shardings of each kind.
TEST(Replicas, HoldTheSameShard) {
  const comm::Mesh mesh{{2, 3}};
  const std::vector<std::vector<std::vector<comm::AxisRef>>> shardings = {
      {}, {{kData}, {}}, {{}, {kModel}}, {{kData}, {kModel}}, {{kModel}, {kData}}, {{kModel, kData}, {}}};
  for (const auto& sharding : shardings) {
    const HeldTensor tensor = Tensor(sharding);
    const std::vector<ReplicaClass> classes = ClassesOf(std::span(&tensor, 1), mesh, 6);
    ASSERT_EQ(classes.size(), 1u);
    bool has_replicas = false;
    for (uint32_t a = 0; a < 6; ++a) {
      for (uint32_t b = 0; b < 6; ++b) {
        const bool are_alike = data::Shard(tensor.type, mesh, a).begin() == data::Shard(tensor.type, mesh, b).begin();
        EXPECT_EQ(classes[0].parts[a] == classes[0].parts[b], are_alike) << a << b;
        has_replicas = has_replicas || (a != b && are_alike);
      }
    }
    EXPECT_EQ(classes[0].has_replicas, has_replicas);
  }
}

TEST(Replicas, AreInClassesOfTensorsThatAreCutAlike) {
  const std::vector<HeldTensor> tensors = {Tensor({}), Tensor({{kData}, {}}), Tensor({{}, {}}), Tensor({{}, {kData}})};
  const std::vector<ReplicaClass> classes = ClassesOf(tensors, {{2, 3}}, 6);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_THAT(classes[0].tensors, ElementsAre(0, 2));
  EXPECT_THAT(classes[1].tensors, ElementsAre(1, 3));
}

// Ranks 0 to 2 are one stage, ranks 3 to 5 another.
TEST(Replicas, AreOfOneStage) {
  const std::vector<HeldTensor> tensors = {Tensor({}, {{0, 0}, {1, 0}}), Tensor({}, {{1, 0}})};
  const std::vector<ReplicaClass> classes = ClassesOf(tensors, {{2, 3}}, 3);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_THAT(classes[0].parts, ElementsAre(0, 0, 0, 1, 1, 1));
  constexpr uint32_t kNone = ReplicaClass::kNone;
  EXPECT_THAT(classes[1].parts, ElementsAre(kNone, kNone, kNone, 0, 0, 0));
}

TEST(Replicas, TheMajorityIsRight) {
  const ReplicaClass four{{0}, {0, 0, 0, 0}, true};
  EXPECT_THAT(FindDifference(four, std::vector<uint64_t>{5, 5, 5, 5}).ranks, IsEmpty());
  for (uint32_t odd = 0; odd < 4; ++odd) {
    std::vector<uint64_t> sums(4, 5);
    sums[odd] = 6;
    const Difference difference = FindDifference(four, sums);
    EXPECT_THAT(difference.ranks, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(difference.odd, ElementsAre(odd));
  }
  EXPECT_THAT(FindDifference(four, std::vector<uint64_t>{5, 6, 5, 6}).odd, IsEmpty());
  EXPECT_THAT(FindDifference(four, std::vector<uint64_t>{5, 6, 5, 6}).ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(FindDifference({{0}, {0, 0}, true}, std::vector<uint64_t>{5, 6}).odd, IsEmpty());
  const ReplicaClass five{{0}, {0, 0, 0, 0, 0}, true};
  EXPECT_THAT(FindDifference(five, std::vector<uint64_t>{9, 5, 5, 8, 5}).odd, ElementsAre(0, 3));
}

TEST(Replicas, DifferentPartsMayDiffer) {
  const ReplicaClass replicas{{0}, {0, 1, 0, 1, ReplicaClass::kNone}, true};
  EXPECT_THAT(FindDifference(replicas, std::vector<uint64_t>{1, 2, 1, 2, 3}).ranks, IsEmpty());
  EXPECT_THAT(FindDifference(replicas, std::vector<uint64_t>{1, 2, 1, 7, 3}).ranks, ElementsAre(1, 3));
}

}  // namespace
}  // namespace sgd::guard
