// Groups of ranks by what they must be, over every order of axes and parts of a mesh of 24 ranks.
#include "reference/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlir::sgd::reference {
namespace {

using ::testing::ElementsAre;

class Groups : public ::testing::Test {
 protected:
  Groups() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect>();
    SmallVector<MeshAxisAttr> axes;
    for (auto [name, size] : {std::pair("x", 2), std::pair("y", 6), std::pair("z", 2)})
      axes.push_back(MeshAxisAttr::get(&context, name, size));
    mesh = MeshAttr::get(&context, axes);
  }

  AxisRefAttr whole(StringRef name) { return AxisRefAttr::get(&context, name); }
  AxisRefAttr part(StringRef name, int64_t before, int64_t size) {
    return AxisRefAttr::get(&context, name, before, size);
  }

  MLIRContext context;
  MeshAttr mesh;
};

TEST_F(Groups, OrderedByTheFirstAxisFirst) {
  // Rank = 12 x + 2 y + z.
  EXPECT_THAT(getGroup(mesh, {whole("x"), whole("z")}, 17), ElementsAre(4, 5, 16, 17));
  EXPECT_THAT(getGroup(mesh, {whole("z"), whole("x")}, 17), ElementsAre(4, 16, 5, 17));
  EXPECT_THAT(getGroup(mesh, {}, 17), ElementsAre(17));
}

TEST_F(Groups, PartsOfAnAxisAreItsMajorAndMinorDigits) {
  EXPECT_THAT(getGroup(mesh, {part("y", 1, 2)}, 0), ElementsAre(0, 6));
  EXPECT_THAT(getGroup(mesh, {part("y", 2, 3)}, 0), ElementsAre(0, 2, 4));
  EXPECT_THAT(getGroup(mesh, {part("y", 1, 2), part("y", 2, 3)}, 7), ElementsAre(1, 3, 5, 7, 9, 11));
}

TEST_F(Groups, PartitionTheRanksInOrder) {
  SmallVector<AxisRefAttr> pieces = {part("y", 2, 3), whole("x"), part("y", 1, 2), whole("z")};
  SmallVector<unsigned> order = {0, 1, 2, 3};
  do {
    for (unsigned count = 0; count <= pieces.size(); ++count) {
      SmallVector<AxisRefAttr> axes;
      int64_t size = 1;
      for (unsigned index : ArrayRef(order).take_front(count)) {
        axes.push_back(pieces[index]);
        size *= index == 0 ? 3 : 2;
      }
      for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
        SmallVector<int64_t> group = getGroup(mesh, axes, rank);
        ASSERT_EQ(static_cast<int64_t>(group.size()), size);
        ASSERT_EQ(group[getLinearIndex(mesh, axes, rank)], rank);
        for (auto [position, member] : llvm::enumerate(group)) {
          ASSERT_EQ(getGroup(mesh, axes, member), group);
          ASSERT_EQ(getLinearIndex(mesh, axes, member), static_cast<int64_t>(position));
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace mlir::sgd::reference
