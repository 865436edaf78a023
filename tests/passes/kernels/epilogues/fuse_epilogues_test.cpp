// Programs compute the same before and after sgd-fuse-epilogues, for either target's libraries, and become the calls
// that are expected of them.

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/kernels/epilogues/passes.h"
#include "targets/cpu/libraries/library_model.h"
#include "targets/gpu/libraries/library_model.h"
#include "tests/passes/kernels/sampled_evaluation.h"

namespace mlir::sgd {
namespace {

class FuseEpilogues : public testing::Test {
 protected:
  FuseEpilogues() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, fusion::FusionDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect>();
  }

  /// The epilogues of the calls that `text` becomes, in their order, such as "bias+relu residual".
  std::string fuse(const std::string& text, const LibraryModel& libraries, double tolerance) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module) return "";
    std::vector<reference::Tensor> before = evaluateOnSamples(*module, /*scale=*/0.5);
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createFuseEpiloguesPass(libraries));
    EXPECT_TRUE(succeeded(passes.run(*module)));
    std::vector<reference::Tensor> after = evaluateOnSamples(*module, /*scale=*/0.5);
    for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(before, after)))
      for (int64_t at = 0; at < std::get<0>(pair).size(); ++at)
        EXPECT_NEAR(std::get<1>(pair).floats[at], std::get<0>(pair).floats[at], tolerance)
            << "result " << number << ", element " << at;
    SmallVector<std::string> calls;
    auto add = [&](auto op) { calls.push_back(TextOf(op.getEpilogue(), "+")); };
    module->walk([&](Operation* op) {
      if (auto matmul = dyn_cast<fusion::LibraryMatmulOp>(op)) add(matmul);
      if (auto convolution = dyn_cast<fusion::LibraryConvolutionOp>(op)) add(convolution);
    });
    return llvm::join(calls, " ");
  }

  void expectCalls(const std::string& text, const char* onCpu, const char* onGpu, double tolerance = 2e-6) {
    SCOPED_TRACE(text);
    EXPECT_EQ(fuse(text, cpu, tolerance), onCpu);
    EXPECT_EQ(fuse(text, gpu, tolerance), onGpu);
  }

  MLIRContext context;
  cpu::CpuLibraries cpu;
  gpu::GpuLibraries gpu{llvm::cantFail(gpu::parseArchitectures("sm_90")), 1 << 20};
};

TEST_F(FuseEpilogues, BiasAndRelu) {
  expectCalls(R"(
func.func @main(%x: tensor<6x5xf32>, %w: tensor<5x8xf32>, %b: tensor<2x4xf32>, %c: tensor<8xf32>) -> (tensor<3x2x2x4xf32>, tensor<6x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<6x8xf32>
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<6x5xf32>, tensor<5x8xf32> -> tensor<6x8xf32>
  %1 = sgd.reshape %0 : tensor<6x8xf32> -> tensor<3x2x2x4xf32>
  %2 = sgd.broadcast_in_dim %b dims = [2, 3] : tensor<2x4xf32> -> tensor<3x2x2x4xf32>
  %3 = arith.addf %2, %1 : tensor<3x2x2x4xf32>
  %4 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<6x5xf32>, tensor<5x8xf32> -> tensor<6x8xf32>
  %5 = sgd.broadcast_in_dim %c dims = [1] : tensor<8xf32> -> tensor<6x8xf32>
  %6 = arith.addf %4, %5 : tensor<6x8xf32>
  %7 = arith.maximumf %zero, %6 : tensor<6x8xf32>
  return %3, %7 : tensor<3x2x2x4xf32>, tensor<6x8xf32>
})",
              "bias bias+relu", "bias");
}

// Columns of the transposed product are rows of the result; the bias of its last dimension is over rows.
TEST_F(FuseEpilogues, TransposedResults) {
  expectCalls(R"(
func.func @main(%x: tensor<6x5xf32>, %w: tensor<5x8xf32>, %b: tensor<6xf32>) -> tensor<8x6xf32> {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [2, 0] : tensor<6x5xf32>, tensor<5x8xf32> -> tensor<8x6xf32>
  %1 = sgd.broadcast_in_dim %b dims = [1] : tensor<6xf32> -> tensor<8x6xf32>
  %2 = arith.addf %0, %1 : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
})",
              "bias", "bias");
}

TEST_F(FuseEpilogues, ChainsOfProducts) {
  expectCalls(R"(
func.func @main(%x: tensor<6x5xf32>, %w: tensor<5x8xf32>, %v: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<6x5xf32>, tensor<5x8xf32> -> tensor<6x8xf32>
  %1 = math.tanh %0 : tensor<6x8xf32>
  %2 = fusion.matmul %1 [0, 1], %v [1, 2] into [0, 2] : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %3 = arith.addf %0, %2 : tensor<6x8xf32>
  %4 = fusion.matmul %3 [0, 1], %v [2, 1] into [0, 2] : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %5 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<6x5xf32>, tensor<5x8xf32> -> tensor<6x8xf32>
  %6 = arith.addf %5, %4 : tensor<6x8xf32>
  return %6 : tensor<6x8xf32>
})",
              "residual residual", "residual residual");
}

TEST_F(FuseEpilogues, Convolutions) {
  expectCalls(R"(
func.func @main(%x: tensor<2x6x5x4xf32>, %w: tensor<3x3x4x8xf32>, %b: tensor<8xf32>) -> tensor<2x6x5x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x6x5x8xf32>
  %0 = fusion.convolution %x [0, 4, 5, 2], %w [4, 5, 2, 3] into [0, 4, 5, 3] strides = [1, 1] low = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x6x5x4xf32>, tensor<3x3x4x8xf32> -> tensor<2x6x5x8xf32>
  %1 = sgd.broadcast_in_dim %b dims = [3] : tensor<8xf32> -> tensor<2x6x5x8xf32>
  %2 = arith.addf %0, %1 : tensor<2x6x5x8xf32>
  %3 = arith.maximumf %2, %zero : tensor<2x6x5x8xf32>
  return %3 : tensor<2x6x5x8xf32>
})",
              "bias+relu", "bias+relu");
  expectCalls(R"(
func.func @main(%x: tensor<2x6x5x4xf32>, %w: tensor<3x3x4x8xf32>, %v: tensor<3x3x8x8xf32>) -> tensor<2x6x5x8xf32> {
  %0 = fusion.convolution %x [0, 4, 5, 2], %w [4, 5, 2, 3] into [0, 4, 5, 3] strides = [1, 1] low = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x6x5x4xf32>, tensor<3x3x4x8xf32> -> tensor<2x6x5x8xf32>
  %1 = math.tanh %0 : tensor<2x6x5x8xf32>
  %2 = fusion.convolution %1 [0, 4, 5, 2], %v [4, 5, 2, 3] into [0, 4, 5, 3] strides = [1, 1] low = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x6x5x8xf32>, tensor<3x3x8x8xf32> -> tensor<2x6x5x8xf32>
  %3 = arith.addf %2, %0 : tensor<2x6x5x8xf32>
  return %3 : tensor<2x6x5x8xf32>
})",
              "residual", "residual");
}

TEST_F(FuseEpilogues, ReductionsOfOperands) {
  expectCalls(R"(
func.func @main(%x: tensor<4x3x6xf32>, %dy: tensor<4x3x8xf32>) -> (tensor<6x8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<6xf32>) {
  %db = sgd.reduce add %dy dimensions = [0, 1] : tensor<4x3x8xf32> -> tensor<8xf32>
  %dw = fusion.matmul %x [0, 1, 2], %dy [0, 1, 3] into [2, 3] : tensor<4x3x6xf32>, tensor<4x3x8xf32> -> tensor<6x8xf32>
  %sx = sgd.reduce add %x dimensions = [0, 1] : tensor<4x3x6xf32> -> tensor<6xf32>
  %t = fusion.matmul %x [0, 1, 2], %dy [0, 1, 3] into [3, 2] : tensor<4x3x6xf32>, tensor<4x3x8xf32> -> tensor<8x6xf32>
  return %dw, %db, %t, %sx : tensor<6x8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<6xf32>
})",
              "", "lhs_reduction rhs_reduction");
}

TEST_F(FuseEpilogues, Gelu) {
  expectCalls(R"(
func.func @main(%x: tensor<8x16xbf16>, %w: tensor<16x32xbf16>, %b: tensor<32xbf16>) -> tensor<8x32xbf16> {
  %cubic = arith.constant dense<4.467770e-02> : tensor<8x32xbf16>
  %scale = arith.constant dense<7.968750e-01> : tensor<8x32xbf16>
  %one = arith.constant dense<1.0> : tensor<8x32xbf16>
  %half = arith.constant dense<0.5> : tensor<8x32xbf16>
  %p = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<8x16xbf16>, tensor<16x32xbf16> -> tensor<8x32xbf16>
  %r = sgd.broadcast_in_dim %b dims = [1] : tensor<32xbf16> -> tensor<8x32xbf16>
  %0 = arith.addf %p, %r : tensor<8x32xbf16>
  %1 = arith.mulf %0, %0 : tensor<8x32xbf16>
  %2 = arith.mulf %1, %0 : tensor<8x32xbf16>
  %3 = arith.mulf %cubic, %2 : tensor<8x32xbf16>
  %4 = arith.addf %0, %3 : tensor<8x32xbf16>
  %5 = arith.mulf %scale, %4 : tensor<8x32xbf16>
  %6 = math.tanh %5 : tensor<8x32xbf16>
  %7 = arith.addf %one, %6 : tensor<8x32xbf16>
  %8 = arith.mulf %half, %7 : tensor<8x32xbf16>
  %9 = arith.mulf %0, %8 : tensor<8x32xbf16>
  return %9 : tensor<8x32xbf16>
})",
              "", "bias+gelu", 0.03);
}

}  // namespace
}  // namespace mlir::sgd
