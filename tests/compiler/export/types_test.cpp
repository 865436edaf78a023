// Element types, and constants as bytes.
#include "compiler/export/export_types.h"

#include <gtest/gtest.h>

#include "mlir/IR/Builders.h"

namespace mlir::sgd {
namespace {

using artifact::ElementType;

class ExportTypes : public testing::Test {
 protected:
  MLIRContext context;
  Builder builder{&context};

  std::string toBytes(Type element, ArrayRef<int64_t> shape, ArrayRef<Attribute> values) {
    return getConstantBytes(DenseElementsAttr::get(RankedTensorType::get(shape, element), values));
  }
};

TEST_F(ExportTypes, SignsAreTheUsersAndNotTheTypes) {
  EXPECT_EQ(getElementType(builder.getIntegerType(8), /*isUnsigned=*/false), ElementType::I8);
  EXPECT_EQ(getElementType(builder.getIntegerType(8), /*isUnsigned=*/true), ElementType::U8);
  EXPECT_EQ(getElementType(builder.getIntegerType(64), /*isUnsigned=*/true), ElementType::U64);
  EXPECT_EQ(getElementType(builder.getI1Type(), /*isUnsigned=*/true), ElementType::Bool);
  EXPECT_EQ(getElementType(builder.getBF16Type(), /*isUnsigned=*/true), ElementType::BF16);
}

TEST_F(ExportTypes, OthersAreNone) {
  EXPECT_EQ(getElementType(builder.getIntegerType(4), /*isUnsigned=*/false), std::nullopt);
  EXPECT_EQ(getElementType(builder.getIntegerType(128), /*isUnsigned=*/false), std::nullopt);
  EXPECT_EQ(getElementType(builder.getIndexType(), /*isUnsigned=*/false), std::nullopt);
}

TEST_F(ExportTypes, BooleansTakeAByteEach) {
  Attribute yes = builder.getBoolAttr(true), no = builder.getBoolAttr(false);
  EXPECT_EQ(toBytes(builder.getI1Type(), {3}, {yes, no, yes}), std::string("\1\0\1", 3));
  EXPECT_EQ(toBytes(builder.getI1Type(), {9}, {yes}), std::string(9, '\1'));  // a splat
}

TEST_F(ExportTypes, SplatsAreRepeated) {
  EXPECT_EQ(toBytes(builder.getI32Type(), {2}, {builder.getI32IntegerAttr(-2)}),
            std::string("\xFE\xFF\xFF\xFF\xFE\xFF\xFF\xFF", 8));
  EXPECT_EQ(toBytes(builder.getF32Type(), {2, 1}, {builder.getF32FloatAttr(1)}),
            std::string("\0\0\x80\x3F\0\0\x80\x3F", 8));
  EXPECT_EQ(toBytes(builder.getF32Type(), {0}, {}), "");
}

TEST_F(ExportTypes, PatternsAreOneElement) {
  EXPECT_EQ(getPattern(builder.getI16IntegerAttr(0x0102)), (std::vector<uint8_t>{2, 1}));
  EXPECT_EQ(getPattern(builder.getBoolAttr(true)), (std::vector<uint8_t>{1}));
  EXPECT_EQ(getPattern(builder.getFloatAttr(builder.getBF16Type(), -1)), (std::vector<uint8_t>{0x80, 0xBF}));
}

}  // namespace
}  // namespace mlir::sgd
