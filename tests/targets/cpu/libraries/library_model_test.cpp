// The types and epilogues that the CPU's matmuls and convolutions are asked for.
#include "targets/cpu/libraries/library_model.h"

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

class CpuLibrariesTest : public ::testing::Test {
 protected:
  MLIRContext context;
  Builder builder{&context};
  Type f8 = Float8E4M3FNType::get(&context), f16 = builder.getF16Type(), bf16 = builder.getBF16Type(),
       f32 = builder.getF32Type(), f64 = builder.getF64Type(), i8 = builder.getI8Type(), i32 = builder.getI32Type();
  cpu::CpuLibraries libraries;

  void expectTypes(Type lhs, Type rhs, Type result, Type wanted) {
    CallTypes types = libraries.getMatmulTypes(lhs, rhs, result);
    EXPECT_EQ(types.operand, wanted);
    EXPECT_EQ(types.result, wanted);
  }
};

TEST_F(CpuLibrariesTest, OneTypeHoldsAllElements) {
  expectTypes(bf16, bf16, bf16, bf16);
  expectTypes(bf16, bf16, f32, f32);
  expectTypes(bf16, f16, bf16, f32);
  expectTypes(f32, bf16, bf16, f32);
  expectTypes(f32, f64, f32, f64);
  expectTypes(f8, f8, bf16, f32);
  expectTypes(bf16, bf16, f8, f32);
  expectTypes(i8, i8, i32, i32);
}

TEST_F(CpuLibrariesTest, MultipliesWhatHasOneType) {
  EXPECT_TRUE(libraries.multiplies(i32, i32, i32));
  EXPECT_TRUE(libraries.multiplies(bf16, bf16, bf16));
  EXPECT_FALSE(libraries.multiplies(f8, f8, f32));
  EXPECT_FALSE(libraries.multiplies(bf16, f32, f32));
}

TEST_F(CpuLibrariesTest, PacksLargeWeightsOfFewRows) {
  EXPECT_EQ(libraries.getPackedColumns(f32, 32, 2048, 512), 32);
  EXPECT_EQ(libraries.getPackedColumns(f64, 32, 2048, 512), 32);
  EXPECT_EQ(libraries.getPackedColumns(bf16, 32, 2048, 512), 0);
  EXPECT_EQ(libraries.getPackedColumns(f32, 32, 2040, 512), 0);
  EXPECT_EQ(libraries.getPackedColumns(f32, 1024, 2048, 512), 0);
  EXPECT_EQ(libraries.getPackedColumns(f32, 4, 256, 256), 0);
}

TEST_F(CpuLibrariesTest, Epilogues) {
  MatmulCall matmul{f32, f32, f32, {}, false, {}};
  ConvolutionCall convolution;
  convolution.operand = convolution.result = f32;
  using List = fusion::Epilogue;
  auto isTaken = [&](List epilogue) {
    matmul.epilogue = convolution.epilogue = epilogue;
    EXPECT_EQ(libraries.takes(matmul), libraries.takes(convolution));
    return libraries.takes(matmul);
  };
  EXPECT_TRUE(isTaken({}));
  EXPECT_TRUE(isTaken({fusion::EpilogueStep::kBias}));
  EXPECT_TRUE(isTaken({fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu}));
  EXPECT_TRUE(isTaken({fusion::EpilogueStep::kResidual}));
  EXPECT_FALSE(isTaken({fusion::EpilogueStep::kRelu, fusion::EpilogueStep::kBias}));
  EXPECT_FALSE(isTaken({fusion::EpilogueStep::kResidual, fusion::EpilogueStep::kBias}));
  EXPECT_FALSE(isTaken({fusion::EpilogueStep::kGelu}));
  EXPECT_FALSE(isTaken({fusion::EpilogueStep::kGeluGradient}));
  EXPECT_FALSE(isTaken({fusion::EpilogueStep::kLhsReduction}));
}

TEST_F(CpuLibrariesTest, ConvolutionsWriteTheirSums) {
  CallTypes types = libraries.getConvolutionTypes(bf16, bf16);
  EXPECT_EQ(types.operand, bf16);
  EXPECT_EQ(types.result, f32);
}

}  // namespace
}  // namespace mlir::sgd
