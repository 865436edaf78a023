#include "plugins/pjrt/strided_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace sgd::pjrt {
namespace {

using ::testing::ElementsAre;

// All orders of three dimensions, there and back.
TEST(StridedCopyTest, OrdersAreInverted) {
  const std::vector<int64_t> dims = {2, 3, 4};
  std::vector<int32_t> values(24);
  std::iota(values.begin(), values.end(), 0);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  std::vector<int64_t> order = {0, 1, 2};
  do {
    const std::vector<int64_t> strides = StridesOf(dims, order, 4), dense = RowMajorStrides(dims, 4);
    std::vector<int32_t> moved(24, -1), back(24, -1);
    CopyStrided(dims, 4, bytes, dense, reinterpret_cast<std::byte*>(moved.data()), strides);
    EXPECT_EQ(moved[(strides[0] + 2 * strides[1] + 3 * strides[2]) / 4], 23);
    CopyStrided(dims, 4, reinterpret_cast<const std::byte*>(moved.data()), strides,
                reinterpret_cast<std::byte*>(back.data()), dense);
    EXPECT_EQ(back, values);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(StridedCopyTest, SourcesMayRepeatAndRunBackwards) {
  const std::vector<int16_t> values = {1, 2, 3};
  std::vector<int16_t> target(6);
  CopyStrided(std::vector<int64_t>{2, 3}, 2, reinterpret_cast<const std::byte*>(values.data() + 2),
              std::vector<int64_t>{0, -2}, reinterpret_cast<std::byte*>(target.data()), std::vector<int64_t>{6, 2});
  EXPECT_THAT(target, ElementsAre(3, 2, 1, 3, 2, 1));
}

}  // namespace
}  // namespace sgd::pjrt
