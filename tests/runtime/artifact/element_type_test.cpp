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
  EXPECT_EQ(ElementSize(ElementType::F8E5M2), 1u);
  EXPECT_EQ(ElementSize(ElementType::U64), 8u);
  EXPECT_TRUE(IsFloat(ElementType::F16));
  EXPECT_TRUE(IsFloat(ElementType::F8E4M3FN));
  EXPECT_TRUE(IsFloat8(ElementType::F8E5M2));
  EXPECT_FALSE(IsFloat8(ElementType::F64));
  EXPECT_FALSE(IsFloat(ElementType::U64));
}

TEST(ElementType, ComplexNumbersAreNotOfInstructions) {
  EXPECT_EQ(ElementSize(ElementType::C64), 8u);
  EXPECT_FALSE(IsFloat(ElementType::C64));
  EXPECT_FALSE(IsFloat8(ElementType::C64));
  for (ElementType type : EnumValuesElementType()) EXPECT_EQ(IsOfInstructions(type), type != ElementType::C64);
  EXPECT_FALSE(IsOfInstructions(static_cast<ElementType>(200)));
}

}  // namespace
}  // namespace sgd::artifact
