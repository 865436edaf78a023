// Which dimensions are of layers alike.
#include "compiler/auto_sharding/dim_groups.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

GroupedTensor parameter(const char* name, std::vector<int64_t> shape) {
  uint64_t bytes = 4;
  for (int64_t size : shape) bytes *= size;
  return {name, std::move(shape), bytes, true};
}

TEST(DimGroups, NumbersInNamesAreOne) {
  EXPECT_EQ(generalizeName("params.h12.mlp.w1"), "params.h*.mlp.w*");
  EXPECT_EQ(generalizeName("arg3"), "arg*");
  EXPECT_EQ(generalizeName("kernel"), "kernel");
  EXPECT_EQ(generalizeName(""), "");
}

// Two layers of up and down; features between them are one dimension.
TEST(DimGroups, LayersAreSharedAlike) {
  std::vector<GroupedTensor> tensors = {parameter("h0.up", {8, 32}), parameter("h0.down", {32, 8}),
                                        parameter("h1.up", {8, 32}), parameter("h1.down", {32, 8})};
  std::vector<LogicalDim> dims = {
      {{{0, 0}, {1, 1}, {2, 0}, {3, 1}}, 8}, {{{0, 1}, {1, 0}}, 32}, {{{2, 1}, {3, 0}}, 32}};
  std::vector<DimGroup> groups = groupDims(dims, tensors, {});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "h*.up:0");
  EXPECT_THAT(groups[1].members,
              ElementsAre(ArgumentDim{0, 1}, ArgumentDim{1, 0}, ArgumentDim{2, 1}, ArgumentDim{3, 0}));
  EXPECT_EQ(groups[1].size, 32);
  EXPECT_EQ(groups[1].bytes, 4u * 8 * 32 * 4);
}

// Hidden layers whose names differ in numbers, each the next one's input: every second one is sharded.
TEST(DimGroups, NeighboursThatShareATensorAreApart) {
  std::vector<GroupedTensor> tensors;
  std::vector<LogicalDim> dims;
  for (unsigned layer = 0; layer < 5; ++layer) {
    tensors.push_back(parameter(("w" + std::to_string(layer)).c_str(), {16, 16}));
    if (layer > 0) dims.push_back({{{layer - 1, 1}, {layer, 0}}, 16});
  }
  std::vector<DimGroup> groups = groupDims(dims, tensors, {});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].members,
              ElementsAre(ArgumentDim{0, 1}, ArgumentDim{1, 0}, ArgumentDim{2, 1}, ArgumentDim{3, 0}));
  EXPECT_THAT(groups[1].members,
              ElementsAre(ArgumentDim{1, 1}, ArgumentDim{2, 0}, ArgumentDim{3, 1}, ArgumentDim{4, 0}));
}

// Inner channels of blocks, which grow with depth; what is between blocks is of more tensors, and another group.
TEST(DimGroups, LayersOfOtherWidthsAreAlike) {
  std::vector<GroupedTensor> tensors = {parameter("block0.conv0", {4, 8}), parameter("block0.conv1", {8, 4}),
                                        parameter("block1.conv0", {4, 16}), parameter("block1.conv1", {16, 4})};
  std::vector<LogicalDim> dims = {{{{0, 0}, {1, 1}, {2, 0}, {3, 1}}, 4}, {{{0, 1}, {1, 0}}, 8}, {{{2, 1}, {3, 0}}, 16}};
  std::vector<DimGroup> groups = groupDims(dims, tensors, {});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1].members.size(), 4u);
  EXPECT_EQ(groups[1].size, 8);
  tensors[3].shape.push_back(3);
  EXPECT_EQ(groupDims(dims, tensors, {}).size(), 3u) << "tensors of another rank are others";
}

TEST(DimGroups, ManyLayersTakeAMoment) {
  std::vector<GroupedTensor> tensors;
  std::vector<LogicalDim> dims;
  for (unsigned layer = 0; layer < 200000; ++layer) {
    tensors.push_back(parameter(("w" + std::to_string(layer)).c_str(), {16}));
    dims.push_back({{{layer, 0}}, 16});
  }
  std::vector<DimGroup> groups = groupDims(dims, tensors, {});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups.front().members.size(), tensors.size());
}

TEST(DimGroups, OptimizerStateAndBatchAreLeftOut) {
  std::vector<GroupedTensor> tensors = {{"mu", {8}, 0, false}, {"x", {16, 8}, 0, true}};
  std::vector<LogicalDim> dims = {{{{0, 0}}, 8}, {{{1, 0}}, 16}, {{{1, 1}}, 8}};
  std::vector<DimGroup> groups = groupDims(dims, tensors, ArgumentDim{1, 0});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].members, ElementsAre(ArgumentDim{1, 1}));
  EXPECT_FALSE(groups[0].hasParameters());
}

// Square weights of a recurrence have one dimension twice: the first can be sharded.
TEST(DimGroups, ATensorHasAGroupOnce) {
  std::vector<GroupedTensor> tensors = {parameter("w", {8, 8})};
  std::vector<DimGroup> groups = groupDims(std::vector<LogicalDim>{{{{0, 0}, {0, 1}}, 8}}, tensors, {});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].members, ElementsAre(ArgumentDim{0, 0}));
}

}  // namespace
