// Lists of ranks and the axes that they mean, on a mesh of 2 x 3 x 4 ranks.
#include "frontends/stablehlo/replica_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mlir::sgd {
namespace {

using Groups = llvm::SmallVector<llvm::SmallVector<int64_t>>;
const llvm::SmallVector<int64_t> kSizes = {2, 3, 4};

int64_t rankOf(llvm::ArrayRef<int64_t> index) { return (index[0] * 3 + index[1]) * 4 + index[2]; }

/// The groups over `axes`, each in the order of the linear index over them, from the meaning of the words.
Groups groupsOver(llvm::ArrayRef<unsigned> axes) {
  std::vector<std::pair<int64_t, std::pair<int64_t, int64_t>>> ranks;  // base, index in the group, rank
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k) {
        llvm::SmallVector<int64_t> index = {i, j, k}, base = index;
        int64_t linear = 0;
        for (unsigned axis : axes) {
          linear = linear * kSizes[axis] + index[axis];
          base[axis] = 0;
        }
        ranks.push_back({rankOf(base), {linear, rankOf(index)}});
      }
  std::sort(ranks.begin(), ranks.end());
  Groups groups;
  for (auto [base, rank] : ranks) {
    if (rank.first == 0) groups.emplace_back();
    groups.back().push_back(rank.second);
  }
  return groups;
}

TEST(ReplicaGroups, EveryListOfAxesIsFoundAgain) {
  for (llvm::SmallVector<unsigned> order :
       {llvm::SmallVector<unsigned>{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}})
    for (size_t count = 0; count <= order.size(); ++count) {
      llvm::ArrayRef<unsigned> axes = llvm::ArrayRef<unsigned>(order).take_front(count);
      std::optional<AxisOrder> found = findGroupAxes(kSizes, groupsOver(axes));
      ASSERT_TRUE(found);
      EXPECT_EQ(llvm::ArrayRef<unsigned>(*found), axes);
    }
}

TEST(ReplicaGroups, OthersAreNot) {
  EXPECT_FALSE(findGroupAxes({4}, Groups{{0, 1}, {2, 3}}));     // half of an axis
  EXPECT_FALSE(findGroupAxes({4}, Groups{{0, 2, 1, 3}}));       // another order
  EXPECT_FALSE(findGroupAxes({2, 2}, Groups{{0, 3}, {1, 2}}));  // no axes
  EXPECT_FALSE(findGroupAxes({2, 2}, Groups{{0, 1}}));          // ranks 2 and 3 in no group
  EXPECT_FALSE(findGroupAxes({2}, Groups{{0, 1}, {0, 1}}));     // twice
  EXPECT_FALSE(findGroupAxes({2}, Groups{{0, 2}}));             // no such rank
  EXPECT_FALSE(findGroupAxes({2}, Groups{}));
}

TEST(ReplicaGroups, PartsOfAxesAreFoundWhereWholeOnesAreNot) {
  using SubAxes = llvm::SmallVector<SubAxis, 2>;
  EXPECT_EQ(*findGroupSubAxes({4}, Groups{{0, 1}, {2, 3}}), (SubAxes{{0, 2, 2}}));
  EXPECT_EQ(*findGroupSubAxes({4}, Groups{{0, 2}, {1, 3}}), (SubAxes{{0, 1, 2}}));
  EXPECT_EQ(*findGroupSubAxes({4}, Groups{{0, 2, 1, 3}}), (SubAxes{{0, 2, 2}, {0, 1, 2}}));
  EXPECT_EQ(*findGroupSubAxes({4}, Groups{{0, 1, 2, 3}}), (SubAxes{{0, 1, 4}}));
  EXPECT_EQ(*findGroupSubAxes({6}, Groups{{0, 1}, {2, 3}, {4, 5}}), (SubAxes{{0, 3, 2}}));
  EXPECT_EQ(*findGroupSubAxes({6}, Groups{{0, 1, 2}, {3, 4, 5}}), (SubAxes{{0, 2, 3}}));
  // Half of the second axis together with the first.
  EXPECT_EQ(*findGroupSubAxes({2, 4}, Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}), (SubAxes{{0, 1, 2}, {1, 1, 2}}));
  EXPECT_FALSE(findGroupSubAxes({2, 2}, Groups{{0, 3}, {1, 2}}));
  EXPECT_FALSE(findGroupSubAxes({5}, Groups{{0, 1}, {2, 3}, {4}}));
}

TEST(ReplicaGroups, PairsAreThoseOfTheAxesThatTheyNeed) {
  // On 2 x 2 ranks: along the first axis, along the second, and along both.
  auto rows = findPairAxes({2, 2}, {0, 2, 1, 3});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->axes, (AxisOrder{0}));
  EXPECT_EQ(rows->pairs, (llvm::SmallVector<int64_t>{0, 1}));
  auto columns = findPairAxes({2, 2}, {0, 1, 1, 0, 2, 3, 3, 2});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->axes, (AxisOrder{1}));
  EXPECT_EQ(columns->pairs, (llvm::SmallVector<int64_t>{0, 1, 1, 0}));
  auto both = findPairAxes({2, 2}, {0, 1});  // only in the first row
  ASSERT_TRUE(both);
  EXPECT_EQ(both->axes, (AxisOrder{0, 1}));
  EXPECT_FALSE(findPairAxes({2, 2}, {0, 4}));
  EXPECT_TRUE(findPairAxes({2, 2}, {})->pairs.empty());
}

}  // namespace
}  // namespace mlir::sgd
