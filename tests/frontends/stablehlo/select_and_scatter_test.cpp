// select_and_scatter against its definition, element by element: which element a window selects when it holds NaN,
// values equal to the padding of a maximum, or nothing but padding.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "frontends/stablehlo/import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

using namespace mlir;
using sgd::reference::Tensor;

namespace {

/// Windows over the rows and columns of a batch of images.
struct Windows {
  int64_t size[2], stride[2], low[2], high[2];

  int64_t count(int dim, int64_t length) const { return (length + low[dim] + high[dim] - size[dim]) / stride[dim] + 1; }
};

struct Case {
  const char* name;
  const char* direction;
  const char* init;
  int64_t batch, height, width;
  Windows windows;
};

bool holds(StringRef direction, double a, double b) {
  if (direction == "GE") return a >= b;
  if (direction == "LE") return a <= b;
  return direction == "GT" ? a > b : a < b;
}

std::string print(int64_t batch, int64_t height, int64_t width) {
  return ("tensor<" + Twine(batch) + "x" + Twine(height) + "x" + Twine(width) + "xf32>").str();
}

std::string print(const int64_t (&pair)[2]) { return (Twine(pair[0]) + ", " + Twine(pair[1])).str(); }

class SelectAndScatter : public testing::TestWithParam<Case> {
 protected:
  int64_t rows() const { return c.windows.count(0, c.height); }
  int64_t columns() const { return c.windows.count(1, c.width); }

  std::string program() const {
    const Windows& w = c.windows;
    std::string operand = print(c.batch, c.height, c.width), source = print(c.batch, rows(), columns());
    return "func.func public @main(%x: " + operand + ", %s: " + source + ") -> " + operand +
           " {\n%init = stablehlo.constant dense<" + c.init + "> : tensor<f32>\n" +
           R"(%0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, )" +
           print(w.size) + ">, window_strides = array<i64: 1, " + print(w.stride) + ">, padding = dense<[[0, 0], [" +
           std::to_string(w.low[0]) + ", " + std::to_string(w.high[0]) + "], [" + std::to_string(w.low[1]) + ", " +
           std::to_string(w.high[1]) + "]]> : tensor<3x2xi64>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
           "%1 = stablehlo.compare " + c.direction +
           R"(, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             stablehlo.return %1 : tensor<i1>
           }, {
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %1 = stablehlo.add %a, %b : tensor<f32>
             stablehlo.return %1 : tensor<f32>
           }) : ()" +
           operand + ", " + source + ", tensor<f32>) -> " + operand + "\nreturn %0 : " + operand + "\n}";
  }

  /// The position of the element that a window selects, or nullopt when it has none.
  std::optional<int64_t> select(const std::vector<double>& image, int64_t row, int64_t column) const {
    const Windows& w = c.windows;
    std::optional<int64_t> selected;
    for (int64_t i = 0; i < w.size[0]; ++i) {
      for (int64_t j = 0; j < w.size[1]; ++j) {
        int64_t y = row * w.stride[0] + i - w.low[0], x = column * w.stride[1] + j - w.low[1];
        if (y < 0 || y >= c.height || x < 0 || x >= c.width) continue;
        int64_t here = y * c.width + x;
        if (!selected || !holds(c.direction, image[*selected], image[here])) selected = here;
      }
    }
    return selected;
  }

  std::vector<double> expect(const std::vector<double>& operand, const std::vector<double>& source) const {
    std::vector<double> result(operand.size(), std::stod(c.init));
    int64_t pixels = c.height * c.width, next = 0;
    for (int64_t image = 0; image < c.batch; ++image) {
      std::vector<double> values(operand.begin() + image * pixels, operand.begin() + (image + 1) * pixels);
      for (int64_t row = 0; row < rows(); ++row)
        for (int64_t column = 0; column < columns(); ++column, ++next)
          if (auto selected = select(values, row, column)) result[image * pixels + *selected] += source[next];
    }
    return result;
  }

  std::vector<double> evaluate(const std::vector<double>& operand, const std::vector<double>& source) {
    DialectRegistry registry;
    sgd::registerStablehloDialects(registry);
    MLIRContext context(registry);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program(), &context);
    if (!module || failed(sgd::importStablehlo(*module))) return ADD_FAILURE() << "not imported", operand;
    auto function = module->lookupSymbol<func::FuncOp>("main");
    std::vector<sgd::reference::RankTensors> arguments;
    for (auto [type, values] : llvm::zip(function.getArgumentTypes(), std::array{&operand, &source})) {
      Tensor tensor(cast<RankedTensorType>(type));
      for (auto [index, value] : llvm::enumerate(*values)) tensor.setFloat(static_cast<int64_t>(index), value);
      arguments.push_back({tensor});
    }
    auto results = sgd::reference::evaluate(function, std::move(arguments), 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", operand;
    return (*results)[0][0].floats;
  }

  const Case& c = GetParam();
};

TEST_P(SelectAndScatter, IsAsDefined) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {std::nan(""), -infinity, infinity, 1, 2, -1};
  std::mt19937 random(7);
  std::vector<double> operand(c.batch * c.height * c.width), source(c.batch * rows() * columns());
  for (double& value : operand) value = values[random() % values.size()];
  for (double& value : source) value = 1 + static_cast<double>(random() % 8);
  EXPECT_EQ(evaluate(operand, source), expect(operand, source)) << program();
}

INSTANTIATE_TEST_SUITE_P(
    Windows, SelectAndScatter,
    testing::Values(Case{"Overlapping", "GE", "0.0", 40, 4, 5, {{3, 3}, {1, 1}, {0, 0}, {0, 0}}},
                    Case{"Padded", "GE", "0.0", 40, 4, 5, {{3, 3}, {2, 2}, {1, 0}, {1, 2}}},
                    Case{"Apart", "GE", "0.0", 40, 5, 4, {{2, 1}, {3, 2}, {0, 0}, {0, 0}}},
                    Case{"Minimum", "LE", "0.0", 40, 4, 5, {{2, 3}, {1, 2}, {1, 1}, {0, 1}}},
                    Case{"LastOfEqual", "GT", "0.0", 40, 4, 5, {{2, 2}, {1, 1}, {1, 0}, {0, 1}}},
                    Case{"OnlyPadding", "GE", "0.0", 40, 2, 3, {{2, 2}, {1, 1}, {2, 2}, {3, 2}}},
                    Case{"WithInitialValue", "GE", "3.0", 40, 4, 5, {{3, 2}, {2, 1}, {1, 1}, {1, 1}}},
                    Case{"OnePosition", "LT", "0.0", 3, 4, 5, {{1, 1}, {2, 1}, {1, 0}, {0, 1}}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
