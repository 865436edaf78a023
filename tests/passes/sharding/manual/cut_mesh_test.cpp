// Meshes cut by hand, and all small ones against the ranks' indices as the evaluator has them.
#include "passes/sharding/manual/cut_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/groups.h"

namespace mlir::sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CutMeshes : public ::testing::Test {
 protected:
  CutMeshes() : context(MLIRContext::Threading::DISABLED) { context.loadDialect<SgdDialect>(); }

  MeshAttr mesh(ArrayRef<std::pair<StringRef, int64_t>> axes) {
    return MeshAttr::get(&context, llvm::map_to_vector(axes, [&](const auto& axis) {
      return MeshAxisAttr::get(&context, axis.first, axis.second);
    }));
  }
  AxisRefAttr part(StringRef name, int64_t before, int64_t size) {
    return AxisRefAttr::get(&context, name, before, size);
  }
  AxisRefAttr whole(StringRef name) { return AxisRefAttr::get(&context, name); }

  static std::vector<std::pair<std::string, int64_t>> describe(const CutMesh& cut) {
    std::vector<std::pair<std::string, int64_t>> axes;
    for (MeshAxisAttr axis : cut.get().getAxes()) axes.emplace_back(axis.getName().str(), axis.getSize());
    return axes;
  }

  MLIRContext context;
};

TEST_F(CutMeshes, AxesAreCutWhereCollectivesBeginAndEnd) {
  auto cut = CutMesh::create(mesh({{"x", 12}, {"y", 5}}), {part("x", 2, 3), whole("y")});
  ASSERT_TRUE(cut);
  EXPECT_THAT(describe(*cut),
              ElementsAre(std::pair("x:1", 2), std::pair("x:2", 3), std::pair("x:6", 2), std::pair("y", 5)));
  EXPECT_EQ(cut->getRef(1), part("x", 2, 3));
  EXPECT_EQ(cut->getRef(3), whole("y"));
  EXPECT_THAT(cut->find({whole("x")}), ElementsAre(0, 1, 2));
  EXPECT_THAT(cut->find({whole("y"), part("x", 2, 6)}), ElementsAre(3, 1, 2));
}

TEST_F(CutMeshes, AxesOfOneRankStay) {
  auto cut = CutMesh::create(mesh({{"x", 1}, {"y", 2}}), {});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->get().getNumRanks(), 2);
  EXPECT_EQ(cut->find({whole("x")}).size(), 1u);
  auto none = CutMesh::create(mesh({}), {});
  ASSERT_TRUE(none);
  EXPECT_THAT(describe(*none), IsEmpty());
}

TEST_F(CutMeshes, PartsThatDoNotNestAreNone) {
  EXPECT_FALSE(CutMesh::create(mesh({{"x", 6}}), {part("x", 1, 2), part("x", 1, 3)}));
  EXPECT_FALSE(CutMesh::create(mesh({{"x", 12}}), {part("x", 1, 4), part("x", 2, 3)}));
  // Of other axes they need not.
  EXPECT_TRUE(CutMesh::create(mesh({{"x", 6}, {"y", 6}}), {part("x", 1, 2), part("y", 1, 3)}));
}

// Whatever is cut: a rank's index along the parts of an axis is its index along the axis.
TEST_F(CutMeshes, RanksKeepTheirIndices) {
  MeshAttr original = mesh({{"x", 12}, {"y", 2}});
  SmallVector<AxisRefAttr> all = {whole("x"), whole("y")};
  for (int64_t before : {1, 2, 3, 4, 6})
    for (int64_t size : {2, 3, 4, 6})
      if (12 % (before * size) == 0 && size < 12) all.push_back(part("x", before, size));
  int nested = 0;
  for (AxisRefAttr first : all)
    for (AxisRefAttr second : all) {
      auto cut = CutMesh::create(original, {first, second});
      if (!cut) continue;
      ++nested;
      ASSERT_EQ(cut->get().getNumRanks(), original.getNumRanks());
      for (AxisRefAttr ref : {first, second, whole("x"), whole("y")}) {
        SmallVector<AxisRefAttr> parts;
        for (unsigned index : cut->find({ref}))
          parts.push_back(AxisRefAttr::get(&context, cut->get().getAxes()[index].getName()));
        for (int64_t rank = 0; rank < original.getNumRanks(); ++rank)
          EXPECT_EQ(reference::getLinearIndex(cut->get(), parts, rank),
                    reference::getLinearIndex(original, {ref}, rank));
      }
    }
  EXPECT_GT(nested, 30);
}

}  // namespace
}  // namespace mlir::sgd
