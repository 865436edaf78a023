// Every element type has a size and names that lead back to it.
#include "runtime/artifact/element_type.h"

#include <gtest/gtest.h>

namespace sgd::artifact {
namespace {

TEST(ElementType, NamesLeadBack) {
  for (ElementType type : EnumValuesElementType()) {
    EXPECT_EQ(ElementFromName(ElementName(type)), type);
    EXPECT_EQ(ElementFromSafetensors(SafetensorsName(type)), type);
  }
  EXPECT_EQ(ElementFromName("f8"), std::nullopt);
  EXPECT_EQ(ElementFromSafetensors("f32"), std::nullopt);
}

TEST(ElementType, Sizes) {
  EXPECT_EQ(ElementSize(ElementType::Bool), 1u);
  EXPECT_EQ(ElementSize(ElementType::BF16), 2u);
  EXPECT_EQ(ElementSize(ElementType::F32), 4u);
  EXPECT_EQ(ElementSize(ElementType::U64), 8u);
  EXPECT_TRUE(IsFloat(ElementType::F16));
  EXPECT_FALSE(IsFloat(ElementType::U64));
}

}  // namespace
}  // namespace sgd::artifact
