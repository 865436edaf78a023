// Blocks of all sizes: nothing is left out, nothing is larger than asked, and little is padding.
#include "passes/spmd/compress/block_layout.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

TEST(BlockLayout, CoversEveryElementWithLittlePadding) {
  for (int64_t elements = 0; elements <= 700; ++elements)
    for (int64_t parts : {1, 2, 3, 4, 8})
      for (int64_t most : {8, 31, 32, 256}) {
        BlockLayout layout = BlockLayout::get(elements, parts, most);
        SCOPED_TRACE(testing::Message() << elements << " in " << parts << ", blocks of " << most);
        EXPECT_EQ(layout.parts, parts);
        EXPECT_GE(layout.part * parts, elements);
        EXPECT_LT(layout.part * parts, elements + parts);
        EXPECT_GE(layout.getPadded(), layout.part);
        EXPECT_LE(layout.block, most);
        EXPECT_LT(layout.getPadded() - layout.part, layout.blocks * 16 + 1) << "padding";
        EXPECT_LE(layout.blocks, (layout.part + most - 1) / most) << "scales";
      }
}

TEST(BlockLayout, LongRowsAreWholeVectors) {
  BlockLayout layout = BlockLayout::get(1000, 1, 256);
  EXPECT_EQ(layout.blocks, 4);
  EXPECT_EQ(layout.block, 256);
  layout = BlockLayout::get(1030, 1, 256);
  EXPECT_EQ(layout.blocks, 5);
  EXPECT_EQ(layout.block, 208) << "206 would leave vectors of 16 incomplete";
}

TEST(BlockLayout, BytesAreThoseOfIntegersAndScales) {
  // Parts of 256 in one block, to 3 others, once for the parts and once for the sums.
  EXPECT_EQ(getSentInBlocks(1024, 4, 256, /*isScattered=*/false), 2 * 3 * (256 + 4));
  EXPECT_EQ(getSentInBlocks(1024, 4, 256, /*isScattered=*/true), 3 * (256 + 4));
  EXPECT_EQ(getSentInBlocks(1024, 2, 256, /*isScattered=*/false), 4 * (256 + 4)) << "two ranks exchange all";
  EXPECT_EQ(getSentInBlocks(1024, 2, 256, /*isScattered=*/true), 2 * (256 + 4));
}

}  // namespace
}  // namespace mlir::sgd
