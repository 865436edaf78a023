// Sizes of products against the evaluator, and what must be read for them against sets of multiplications at random.
#include "compiler/bound/matmul_volume.h"

#include <cmath>
#include <random>
#include <set>

#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

namespace mlir::sgd {
namespace {

class MatmulVolumes : public ::testing::Test {
 protected:
  MatmulVolumes() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// Of the one product of @main, whose operands are all ones.
  MatmulVolume parse(const std::string& product, const std::string& lhs, const std::string& rhs,
                     const std::string& result) {
    module =
        parseSourceString<ModuleOp>("func.func @main() -> " + result + " {\n%a = arith.constant dense<1.0> : " + lhs +
                                        "\n%b = arith.constant dense<1.0> : " + rhs + "\n%r = " + product + " : " +
                                        lhs + ", " + rhs + " -> " + result + "\nreturn %r : " + result + "\n}",
                                    &context);
    if (!module) return ADD_FAILURE() << product, MatmulVolume();
    std::optional<MatmulVolume> volume;
    module->walk([&](Operation* op) {
      if (auto found = getMatmulVolume(op)) volume = found;
    });
    return *volume;
  }

  /// How many ones were added up.
  double countMultiplications() {
    auto results = reference::evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", 0;
    double sum = 0;
    for (double value : results->front().front().floats) sum += value;
    return sum;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(MatmulVolumes, OfDotGeneral) {
  MatmulVolume volume = parse("sgd.dot_general %a, %b batching = [1] x [0] contracting = [2] x [1]",
                              "tensor<3x2x4xf32>", "tensor<2x4x5xf32>", "tensor<2x3x5xf32>");
  EXPECT_EQ(volume.groups, 2);
  EXPECT_EQ(volume.m, 3);
  EXPECT_EQ(volume.n, 5);
  EXPECT_EQ(volume.k, 4);
  EXPECT_EQ(volume.repeats, 1);
  EXPECT_EQ(volume.multiplications, countMultiplications());
}

TEST_F(MatmulVolumes, ConvolutionsDoNotMultiplyTheirPadding) {
  struct Form {
    const char* windows;
    int result;
  };
  // Of 7 elements and windows of 3: padded, strided, dilated on either side, and with elements removed.
  for (Form form : {Form{"strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1]", 5},
                    Form{"strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1]", 7},
                    Form{"strides = [2] low = [2] high = [0] lhs_dilations = [1] rhs_dilations = [1]", 4},
                    Form{"strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [3]", 1},
                    Form{"strides = [1] low = [2] high = [2] lhs_dilations = [2] rhs_dilations = [1]", 15},
                    Form{"strides = [3] low = [1] high = [-1] lhs_dilations = [2] rhs_dilations = [2]", 3}}) {
    std::string size = std::to_string(form.result);
    MatmulVolume volume = parse(std::string("sgd.convolution %a, %b ") + form.windows, "tensor<2x7x2x3xf32>",
                                "tensor<3x2x3x4xf32>", "tensor<2x" + size + "x2x4xf32>");
    EXPECT_EQ(volume.multiplications, countMultiplications()) << form.windows;
    EXPECT_EQ(volume.groups, 2);
    EXPECT_EQ(volume.m, 2 * form.result);
    EXPECT_EQ(volume.k, 3 * 3);
    EXPECT_EQ(volume.n, 4);
    EXPECT_EQ(volume.repeats, std::min(3, form.result));
  }
}

TEST_F(MatmulVolumes, OtherOpsHaveNone) {
  module = parseSourceString<ModuleOp>(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n%r = arith.mulf %a, %a : tensor<2xf32>\nreturn %r : "
      "tensor<2xf32>\n}",
      &context);
  module->walk([](Operation* op) { EXPECT_FALSE(getMatmulVolume(op)); });
}

/// Reads and writes of the multiplications (group, i, j, l): elements of lhs, rhs and result.
std::array<double, 3> countElements(const std::set<std::array<int, 4>>& points) {
  std::array<std::set<std::array<int, 3>>, 3> elements;
  for (auto [group, i, j, l] : points) {
    elements[0].insert({group, i, l});
    elements[1].insert({group, l, j});
    elements[2].insert({group, i, j});
  }
  return {double(elements[0].size()), double(elements[1].size()), double(elements[2].size())};
}

double sumLogs(unsigned tensors, const std::array<double, 3>& elements) {
  double sum = 0;
  for (unsigned tensor = 0; tensor < 3; ++tensor)
    if (tensors & (1u << tensor)) sum += std::log(elements[tensor]);
  return sum;
}

TEST(MatmulConstraints, NoSetOfMultiplicationsNeedsLess) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    std::array<int, 4> sizes;
    for (int& size : sizes) size = 1 + random() % 4;
    // Sets that are dense in a part of the product come closest.
    std::array<int, 4> part;
    for (int dim = 0; dim < 4; ++dim) part[dim] = 1 + random() % sizes[dim];
    std::set<std::array<int, 4>> points = {{0, 0, 0, 0}};
    int dropped = random() % 3;
    for (int group = 0; group < part[0]; ++group)
      for (int i = 0; i < part[1]; ++i)
        for (int j = 0; j < part[2]; ++j)
          for (int l = 0; l < part[3]; ++l)
            if (static_cast<int>(random() % 4) >= dropped) points.insert({group, i, j, l});
    MatmulVolume volume;
    volume.groups = sizes[0], volume.m = sizes[1], volume.n = sizes[2], volume.k = sizes[3];
    std::array<double, 3> elements = countElements(points);
    for (const MatmulConstraint& constraint : getConstraints(volume, points.size()))
      EXPECT_GE(sumLogs(constraint.tensors, elements), constraint.logLeast - 1e-9)
          << "trial " << trial << ", tensors " << constraint.tensors;
  }
}

TEST(MatmulConstraints, TheWholeProductNeedsAllElements) {
  MatmulVolume volume;
  volume.groups = 3, volume.m = 2, volume.n = 4, volume.k = 5;
  std::array<double, 3> elements = {3 * 2 * 5, 3 * 5 * 4, 3 * 2 * 4};
  // Each tensor alone, and pairs, are needed whole.
  for (const MatmulConstraint& constraint : getConstraints(volume, 3 * 2 * 4 * 5))
    if (constraint.tensors != (1 | 2 | 4)) {
      EXPECT_NEAR(sumLogs(constraint.tensors, elements), constraint.logLeast, 1e-9) << constraint.tensors;
    }
}

}  // namespace
}  // namespace mlir::sgd
