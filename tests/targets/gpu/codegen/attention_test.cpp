// Attention and its gradients against sums over whole rows: layouts, shared keys, masks, sizes around the squares that
// blocks compute.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mlir/Parser/Parser.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/attention_kernels.h"
#include "tests/targets/kernels/kernel_check.h"
#include "tests/targets/kernels/reference.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

/// Sizes by label, and labels of operands in the order of their dimensions.
struct Shape {
  std::vector<int64_t> sizes;  // rows, columns, depth, depth of values, batch dimensions
  std::vector<int64_t> query, key, value, out;
  std::vector<int64_t> bias = {}, mask = {};
  std::string element = "f32";
  double scale = 0.25, fill = -1e9;
  int64_t diagonal = -1;  // less than 0: none

  std::string type(const std::vector<int64_t>& labels, const std::string& elementType) const {
    std::string text = "tensor<";
    for (int64_t label : labels) text += std::to_string(sizes[label]) + "x";
    return text + elementType + ">";
  }
  std::string statistics() const {
    std::string text = "tensor<";
    for (size_t label = 4; label < sizes.size(); ++label) text += std::to_string(sizes[label]) + "x";
    return text + std::to_string(sizes[0]) + "xf32>";
  }
};

/// Heads between rows and depth, as JAX writes attention.
Shape multiHead(int64_t batch, int64_t rows, int64_t columns, int64_t heads, int64_t depth, int64_t valueDepth) {
  return {{rows, columns, depth, valueDepth, batch, heads}, {4, 0, 5, 2}, {4, 1, 5, 2}, {4, 1, 5, 3}, {4, 0, 5, 3}};
}

std::string list(const std::vector<int64_t>& labels) {
  std::string text = "[";
  for (int64_t label : labels) text += (text.size() > 1 ? ", " : "") + std::to_string(label);
  return text + "]";
}

/// The text of an op on %0, %1, ...: operands' types are collected on the way.
class OpText {
 public:
  explicit OpText(const Shape& shape) : shape(shape) {}

  std::string add(const std::string& type) {
    types += (count ? "; " : "") + type;
    arguments += (count ? ", %a" : "%a") + std::to_string(count) + ": " + type;
    return "%a" + std::to_string(count++);
  }
  std::string add(const std::vector<int64_t>& labels, const std::string& element) {
    return add(shape.type(labels, element)) + " " + list(labels);
  }
  std::string inputs() {
    std::string query = add(shape.query, shape.element), key = add(shape.key, shape.element);
    return query + ", " + key + ", " + add(shape.value, shape.element);
  }
  std::string modifiers() {
    std::string text;
    if (!shape.bias.empty()) text += " bias " + add(shape.bias, shape.element);
    if (!shape.mask.empty()) text += " mask " + add(shape.mask, "i1") + " fill = " + number(shape.fill);
    return text;
  }
  std::string ending() {
    std::string text = " scale = " + number(shape.scale);
    if (shape.diagonal >= 0) text += " diagonal = " + std::to_string(shape.diagonal);
    return text;
  }
  std::string finish(const std::string& op, const std::vector<std::string>& results) {
    std::string all, withCommas = types, values;
    for (size_t at; (at = withCommas.find("; ")) != std::string::npos;) withCommas.replace(at, 2, ", ");
    for (auto [i, result] : llvm::enumerate(results)) {
      all += (i ? ", " : "") + result;
      values += (i ? ", %r#" : "%r#") + std::to_string(i);
    }
    std::string resultTypes;
    for (auto [i, result] : llvm::enumerate(results)) resultTypes += (i ? "; " : "") + result;
    return cluster(types, resultTypes, arguments,
                   "%r:" + std::to_string(results.size()) + " = " + op + " : (" + withCommas + ") -> (" + all +
                       ")\nfusion.yield " + values + " : " + all);
  }

 private:
  static std::string number(double value) {
    char text[32];
    if (std::isinf(value)) return "0xFFF0000000000000";
    snprintf(text, sizeof(text), "%.9e", value);
    return text;
  }

  const Shape& shape;
  std::string types, arguments;
  int count = 0;
};

std::string forward(const Shape& shape) {
  OpText text(shape);
  std::string op = "fusion.attention " + text.inputs();
  op += text.modifiers() + " into " + list(shape.out) + text.ending();
  return text.finish(op, {shape.type(shape.out, shape.element), shape.statistics(), shape.statistics()});
}

/// Gradients have the layout and type of their operands.
std::string gradient(const Shape& shape, bool byKey) {
  OpText text(shape);
  std::string op = byKey ? "fusion.attention_key_gradient " : "fusion.attention_query_gradient ";
  op += text.inputs() + ", " + text.add(shape.out, shape.element) + " with " + text.add(shape.statistics());
  for (int i = 0; i < 2; ++i) op += ", " + text.add(shape.statistics());
  op += text.modifiers() + " into " + (byKey ? list(shape.key) + ", " + list(shape.value) : list(shape.query));
  op += text.ending();
  if (!byKey) return text.finish(op, {shape.type(shape.query, shape.element)});
  return text.finish(op, {shape.type(shape.key, shape.element), shape.type(shape.value, shape.element)});
}

/// Statistics as a forward pass gives them: sums are positive.
void makeStatistics(std::vector<Tensor>& inputs) {
  for (int64_t i = 0; i < inputs[5].size(); ++i) inputs[5].set(i, 1 + std::fabs(inputs[5].get(i)));
}

/// In both orders of threads, and through ptxas.
void checkAll(const Shape& shape, double tolerance = 1e-5) {
  check(forward(shape), tolerance);
  if (testing::Test::HasFatalFailure()) return;
  check(gradient(shape, false), tolerance, makeStatistics);
  if (testing::Test::HasFatalFailure()) return;
  check(gradient(shape, true), tolerance, makeStatistics);
}

/// By value, in one order of threads: the code is that of other shapes.
void checkValues(const std::string& text, std::function<void(std::vector<Tensor>&)> prepare = {},
                 double tolerance = 1e-5) {
  SCOPED_TRACE(text);
  KernelRunner runner(text, CompiledKernels::variants().back());
  ASSERT_TRUE(runner.ok());
  std::vector<Tensor> inputs = runner.makeInputs();
  if (prepare) prepare(inputs);
  expectClose(runner.run(inputs), evaluate(runner.cluster(), inputs), tolerance);
}
void checkValues(const Shape& shape, double tolerance = 1e-5) {
  checkValues(forward(shape), {}, tolerance);
  if (testing::Test::HasFatalFailure()) return;
  checkValues(gradient(shape, false), makeStatistics, tolerance);
  if (testing::Test::HasFatalFailure()) return;
  checkValues(gradient(shape, true), makeStatistics, tolerance);
}

TEST(Attention, HeadsAnywhere) {
  checkAll(multiHead(1, 9, 66, 2, 16, 16));
  if (HasFatalFailure()) return;
  // Heads first, keys with rows last, the result's depth before its rows.
  Shape shape{{40, 66, 8, 12, 3}, {4, 0, 2}, {4, 2, 1}, {1, 4, 3}, {3, 4, 0}};
  checkValues(shape);
  if (HasFatalFailure()) return;
  checkValues({{5, 7, 3, 2}, {0, 2}, {1, 2}, {1, 3}, {0, 3}});  // no batch
}

TEST(Attention, SizesAroundSquares) {
  for (auto [rows, columns, depth] :
       std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {1, 130, 16}, {64, 64, 64}, {65, 63, 20}, {2, 67, 33}}) {
    checkValues(multiHead(1, rows, columns, 1, depth, depth));
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, Depths) {
  for (auto [depth, valueDepth] : std::vector<std::pair<int, int>>{{32, 80}, {128, 64}}) {
    checkValues(multiHead(1, 9, 65, 1, depth, valueDepth));
    if (HasFatalFailure()) return;
  }
  // The forms that take most registers, with their own number of threads each.
  for (int depth : {64, 256}) {
    checkAll(multiHead(1, 66, 65, 1, depth, depth));
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, Diagonal) {
  for (auto [rows, columns, diagonal] :
       std::vector<std::tuple<int, int, int>>{{130, 130, 0}, {9, 140, 70}, {70, 9, 3}}) {
    Shape shape = multiHead(1, rows, columns, 1, 16, 16);
    shape.diagonal = diagonal;
    checkValues(shape);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, SharedKeys) {
  // Queries in groups of three that share a key: label 6 is not the key's.
  Shape shape{{66, 70, 16, 16, 1, 2, 3}, {4, 0, 5, 6, 2}, {4, 1, 5, 2}, {4, 1, 5, 3}, {4, 0, 5, 6, 3}};
  checkValues(shape);
  if (HasFatalFailure()) return;
  shape.diagonal = 4;
  checkValues(shape);
}

TEST(Attention, BiasAndMask) {
  Shape shape = multiHead(2, 9, 70, 2, 16, 16);
  shape.bias = {5, 0, 1};
  checkValues(shape);
  if (HasFatalFailure()) return;
  shape.mask = {4, 0, 1};
  shape.diagonal = 4;
  checkAll(shape);
  if (HasFatalFailure()) return;
  shape.bias = {};
  shape.mask = {4, 1};
  shape.diagonal = -1;
  shape.scale = 1;
  checkValues(shape);
}

/// Rows of which nothing is visible: the mean of all values when masked scores are finite, else no number, as the
/// formula says.
TEST(Attention, RowsWithoutColumns) {
  for (double fill : {-1e9, -static_cast<double>(INFINITY)}) {
    Shape shape = multiHead(1, 5, 130, 1, 16, 16);
    shape.mask = {0, 1};
    shape.fill = fill;
    auto hide = [](std::vector<Tensor>& inputs) {
      for (int64_t i = 0; i < inputs.back().size(); ++i) {
        int64_t row = i / 130, column = i % 130;
        // Row 0 sees nothing, row 1 only the last square, row 2 only the first column, others some.
        inputs.back().setInteger(i, row == 0 ? 0 : row == 1 ? column > 128 : row == 2 ? column == 0 : i % 3 == 0);
      }
    };
    checkValues(forward(shape), hide);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, NumbersThatAreNone) {
  Shape shape = multiHead(1, 3, 70, 1, 16, 16);
  auto spoil = [](std::vector<Tensor>& inputs) {
    inputs[0].set(0, NAN);    // row 0
    inputs[0].set(16, 1e38);  // row 1 overflows
    inputs[1].set(16 * 5, 1e38);
  };
  KernelRunner runner(forward(shape));
  ASSERT_TRUE(runner.ok());
  std::vector<Tensor> inputs = runner.makeInputs();
  spoil(inputs);
  std::vector<Tensor> results = runner.run(inputs);
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(std::isnan(results[0].get(i)));
    EXPECT_TRUE(std::isfinite(results[0].get(32 + i)));
  }
}

TEST(Attention, NarrowTypes) {
  for (const char* element : {"bf16", "f16"}) {
    Shape shape = multiHead(2, 9, 70, 1, 32, 32);
    shape.element = element;
    shape.bias = {4, 1};
    checkValues(shape, 8e-3);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, RandomShapes) {
  std::mt19937 random(7);
  auto below = [&](int limit) { return static_cast<int64_t>(random() % limit); };
  for (int trial = 0; trial < 5; ++trial) {
    SCOPED_TRACE(trial);
    Shape shape;
    shape.sizes = {1 + below(90), 1 + below(90), 1 + below(40), 1 + below(40)};
    shape.query = {0, 2}, shape.key = {1, 2}, shape.value = {1, 3}, shape.out = {0, 3};
    for (int64_t label = 4; label < 4 + below(4); ++label) {
      shape.sizes.push_back(1 + below(2));
      shape.query.push_back(label), shape.out.push_back(label);
      if (below(3) > 0) shape.key.push_back(label), shape.value.push_back(label);
    }
    for (auto* labels : {&shape.query, &shape.key, &shape.value, &shape.out})
      std::shuffle(labels->begin(), labels->end(), random);
    if (below(2)) shape.diagonal = below(60);
    if (below(2)) shape.mask = below(2) ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 0};
    if (below(3) == 0) shape.bias = {0};
    checkValues(shape);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, WhatHasNoKernel) {
  auto describe = [](const Shape& shape) {
    KernelRunner runner(forward(shape));
    return runner.ok();
  };
  EXPECT_FALSE(describe(multiHead(1, 4, 4, 1, 257, 16)));
  Shape wide = multiHead(1, 4, 4, 1, 16, 16);
  wide.element = "f64";
  EXPECT_FALSE(describe(wide));
}

TEST(Attention, ThreadsByWhatTheySum) {
  auto threads = [](const std::string& text) {
    auto context = makeContext();
    auto module = parseSourceString<ModuleOp>(text, context.get());
    unsigned found = 0;
    module->walk([&](fusion::ClusterOp cluster) { found = gpu::attentionThreads(gpu::getAttention(cluster)); });
    return found;
  };
  EXPECT_EQ(threads(forward(multiHead(1, 4, 4, 1, 64, 128))), 128u);
  EXPECT_EQ(threads(forward(multiHead(1, 4, 4, 1, 64, 256))), 256u);
  EXPECT_EQ(threads(gradient(multiHead(1, 4, 4, 1, 32, 32), true)), 128u);
  EXPECT_EQ(threads(gradient(multiHead(1, 4, 4, 1, 128, 128), true)), 256u);
}

}  // namespace
