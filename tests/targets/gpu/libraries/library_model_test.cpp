// Checks which calls cuBLASLt and cuDNN get: limits of their documentation, at and beside each.
#include "targets/gpu/libraries/library_model.h"

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

using List = fusion::Epilogue;

gpu::GpuLibraries getLibraries(const char* architectures) {
  return gpu::GpuLibraries(llvm::cantFail(gpu::parseArchitectures(architectures)), 1 << 20);
}

class GpuLibrariesTest : public ::testing::Test {
 protected:
  MLIRContext context;
  Builder builder{&context};
  Type e4m3 = Float8E4M3FNType::get(&context), e5m2 = Float8E5M2Type::get(&context), f16 = builder.getF16Type(),
       bf16 = builder.getBF16Type(), f32 = builder.getF32Type(), f64 = builder.getF64Type(), i32 = builder.getI32Type();
  gpu::GpuLibraries ampere = getLibraries("sm_80"), hopper = getLibraries("sm_90"), both = getLibraries("sm_80,sm_90");

  /// [m, k] x [n, k] -> [m, n], row by row.
  MatmulCall getMatmul(Type operand, Type result, int64_t m, int64_t n, int64_t k, List epilogue = {}) {
    MatmulCall call{operand, operand, result, {}, false, epilogue};
    ContractionShape& shape = call.shape;
    std::tie(shape.m, shape.n, shape.k) = std::tuple(m, n, k);
    std::tie(shape.aM, shape.aK, shape.bN, shape.bK, shape.cM, shape.cN) = std::tuple(k, 1, k, 1, n, 1);
    return call;
  }

  /// Images [8, 16, 16, 32] with `channels` of `operand` and a filter of 3 by 3, all with features innermost.
  ConvolutionCall getConvolution(Type operand, Type result, List epilogue = {}) {
    constexpr int64_t kChannels = 32, kSize = 16, kKernel = 3;
    ConvolutionCall call;
    call.operand = operand;
    call.result = result;
    call.batch = {8, kSize * kSize * kChannels, 0, kSize * kSize * kChannels};
    call.groups = {1, 0, 0, 0};
    call.inputs = {kChannels, 1, kChannels, 0};
    call.outputs = {kChannels, 0, 1, 1};
    for (int64_t at : {kSize, int64_t{1}}) {
      int64_t tap = at == 1 ? 1 : kKernel;
      call.windows.push_back(
          {kSize, kSize, kKernel, 1, 1, 1, 1, at * kChannels, tap * kChannels * kChannels, at * kChannels});
    }
    call.epilogue = epilogue;
    return call;
  }
};

TEST_F(GpuLibrariesTest, ResultsOfSumsKeepTheirOperands) {
  auto expect = [&](Type lhs, Type rhs, Type result, Type operand, Type written) {
    CallTypes types = hopper.getMatmulTypes(lhs, rhs, result);
    EXPECT_EQ(types.operand, operand);
    EXPECT_EQ(types.result, written);
  };
  expect(bf16, bf16, f32, bf16, f32);
  expect(bf16, bf16, bf16, bf16, bf16);
  expect(bf16, f16, f32, f32, f32);
  expect(bf16, f32, f32, f32, f32);
  expect(e4m3, e5m2, f32, bf16, f32);
  expect(e4m3, f16, f16, f16, f16);
  expect(i32, i32, i32, i32, i32);
  EXPECT_FALSE(hopper.multiplies(i32, i32, i32));
}

TEST_F(GpuLibrariesTest, Float8HasOneForm) {
  EXPECT_FALSE(ampere.multiplies(e4m3, e4m3, f32));
  EXPECT_FALSE(both.multiplies(e4m3, e4m3, f32));
  EXPECT_TRUE(hopper.multiplies(e4m3, e5m2, bf16));
  EXPECT_FALSE(hopper.multiplies(e5m2, e5m2, bf16));
  EXPECT_TRUE(hopper.takes(getMatmul(e4m3, f32, 32, 16, 64)));
  EXPECT_FALSE(hopper.takes(getMatmul(e4m3, f32, 32, 8, 64)));
  MatmulCall turned = getMatmul(e4m3, f32, 32, 32, 32);
  std::swap(turned.shape.bN, turned.shape.bK);
  EXPECT_FALSE(hopper.takes(turned));
  EXPECT_TRUE(hopper.takes(getMatmul(e4m3, bf16, 32, 16, 64, {fusion::EpilogueStep::kBias})));
  EXPECT_FALSE(hopper.takes(getMatmul(e4m3, f32, 32, 16, 64, {fusion::EpilogueStep::kBias})));
}

TEST_F(GpuLibrariesTest, GeluIsOfNarrowRowsFromHopperOn) {
  for (List epilogue :
       {List{fusion::EpilogueStep::kGelu}, List{fusion::EpilogueStep::kBias, fusion::EpilogueStep::kGelu},
        List{fusion::EpilogueStep::kGeluGradient}}) {
    EXPECT_TRUE(hopper.takes(getMatmul(bf16, bf16, 4, 24, 8, epilogue)));
    EXPECT_FALSE(both.takes(getMatmul(bf16, bf16, 4, 24, 8, epilogue)));
    EXPECT_FALSE(hopper.takes(getMatmul(bf16, bf16, 4, 20, 8, epilogue)));
    EXPECT_FALSE(hopper.takes(getMatmul(f32, f32, 4, 24, 8, epilogue)));
    EXPECT_FALSE(hopper.takes(getMatmul(bf16, f32, 4, 24, 8, epilogue)));
    MatmulCall batched = getMatmul(bf16, bf16, 4, 24, 8, epilogue);
    batched.shape.batch = {2};
    EXPECT_FALSE(hopper.takes(batched));
  }
}

TEST_F(GpuLibrariesTest, Epilogues) {
  EXPECT_TRUE(ampere.takes(getMatmul(f32, f32, 3, 5, 7, {fusion::EpilogueStep::kResidual})));
  EXPECT_TRUE(ampere.takes(getMatmul(f32, f32, 3, 5, 7, {fusion::EpilogueStep::kBias})));
  EXPECT_FALSE(hopper.takes(getMatmul(f32, f32, 3, 5, 7, {fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu})));
  EXPECT_FALSE(hopper.takes(getMatmul(f32, f32, 3, 5, 7, {fusion::EpilogueStep::kRelu})));
  MatmulCall sums = getMatmul(f32, f32, 3, 5, 7, {fusion::EpilogueStep::kLhsReduction});
  EXPECT_TRUE(ampere.takes(sums));
  sums.tf32 = true;
  EXPECT_FALSE(ampere.takes(sums));
  EXPECT_FALSE(ampere.takes(getMatmul(f64, f64, 3, 5, 7, {fusion::EpilogueStep::kLhsReduction})));
  EXPECT_FALSE(ampere.takes(getMatmul(bf16, f32, 3, 5, 7, {fusion::EpilogueStep::kLhsReduction})));
}

TEST_F(GpuLibrariesTest, WorkspacesHaveAMost) {
  EXPECT_EQ(hopper.getMatmulWorkspace(f32, 1000), 1024 + 256);
  EXPECT_EQ(hopper.getMatmulWorkspace(i32, 1000), 0);
  EXPECT_EQ(hopper.getMatmulWorkspace(f32, int64_t{1} << 40), (32 << 20) + 256);
  EXPECT_EQ(ampere.getMatmulWorkspace(f32, int64_t{1} << 40), (4 << 20) + 256);
  EXPECT_EQ(both.getMatmulWorkspace(f32, int64_t{1} << 40), (32 << 20) + 256);
}

TEST_F(GpuLibrariesTest, Convolutions) {
  CallTypes types = hopper.getConvolutionTypes(bf16, f32);
  EXPECT_EQ(types.operand, f32);
  EXPECT_EQ(types.result, f32);
  EXPECT_EQ(hopper.getConvolutionTypes(bf16, bf16).result, bf16);
  for (Type type : {bf16, f32, f64}) EXPECT_TRUE(hopper.takes(getConvolution(type, type)));
  EXPECT_FALSE(hopper.takes(getConvolution(i32, i32)));
  EXPECT_FALSE(hopper.takes(getConvolution(bf16, f32)));
  EXPECT_TRUE(hopper.takes(getConvolution(f32, f32, {fusion::EpilogueStep::kBias})));
  EXPECT_TRUE(hopper.takes(getConvolution(f32, f32, {fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu})));
  EXPECT_TRUE(hopper.takes(getConvolution(f32, f32, {fusion::EpilogueStep::kResidual})));
  EXPECT_FALSE(hopper.takes(getConvolution(f64, f64, {fusion::EpilogueStep::kBias})));
  EXPECT_FALSE(hopper.takes(getConvolution(f32, f32, {fusion::EpilogueStep::kGelu})));
  ConvolutionCall volume = getConvolution(f32, f32, {fusion::EpilogueStep::kResidual});
  volume.windows.insert(volume.windows.begin(), ConvolutionWindow{4, 4, 3, 1, 1, 1, 1, 1 << 20, 1 << 20, 1 << 20});
  EXPECT_TRUE(hopper.takes(volume));
  volume.epilogue = {fusion::EpilogueStep::kBias};
  EXPECT_FALSE(hopper.takes(volume));
}

TEST_F(GpuLibrariesTest, AttentionHasDepthsOfEachGeneration) {
  AttentionCall call;
  call.element = bf16;
  call.batch = 4;
  call.heads = call.keyHeads = 8;
  call.rows = call.columns = 128;
  call.depth = call.valueDepth = 128;
  EXPECT_TRUE(ampere.getAttentionParts(call));
  call.depth = 192;
  EXPECT_FALSE(ampere.getAttentionParts(call));
  EXPECT_TRUE(hopper.getAttentionParts(call));
  EXPECT_FALSE(both.getAttentionParts(call));
  call.depth = 60;
  EXPECT_FALSE(hopper.getAttentionParts(call));
}

}  // namespace
}  // namespace mlir::sgd
