// The order of dropped stacks against a search that evaluates all stacks in each step, and its cost for long bodies.
#include "passes/time/recompute/stack_order.h"

#include <gtest/gtest.h>

#include <random>

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "passes/time/recompute/stack_cone.h"

namespace mlir::sgd {
namespace {

/// A loop that stacks values, and one that reads them.
class Program {
 public:
  /// Adds a value to the first loop's body: a sum of earlier ones by number (0 is the state), or a function of one.
  void addValue(ArrayRef<int> operands, bool isStacked) {
    int number = ++numValues;
    os << "    %v" << number << " = " << (operands.size() > 1 ? "arith.addf %v" : "math.exp %v") << operands[0];
    if (operands.size() > 1) os << ", %v" << operands[1];
    os << " : tensor<64xf32>\n";
    if (isStacked) stacked.push_back(number);
  }

  OwningOpRef<ModuleOp> parse(MLIRContext& context) {
    std::string types = "tensor<i32>, tensor<64xf32>" + list(", tensor<8x64xf32>", [](int) { return ""; });
    std::string text = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n";
    text += "  %i = arith.constant dense<0> : tensor<i32>\n  %stack = arith.constant dense<0.0> : tensor<8x64xf32>\n";
    text += "  %r:" + std::to_string(stacked.size() + 2) + " = sgd.while(%i, %x" +
            list(", %stack", [](int) { return ""; }) + ") trips 8 do {\n";
    text += kHead + list(", ", [](int n) { return "%s" + std::to_string(n) + ": tensor<8x64xf32>"; }) + "):\n" + kCount;
    text += body;
    for (int n : stacked) {
      std::string number = std::to_string(n);
      text += "    %e" + number + " = sgd.reshape %v" + number + " : tensor<64xf32> -> tensor<1x64xf32>\n    %u" +
              number + " = sgd.dynamic_update_slice %s" + number + ", %e" + number +
              ", %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>\n";
    }
    text += "    sgd.yield %next, %v" + std::to_string(numValues) +
            list(", ", [](int n) { return "%u" + std::to_string(n); }) + " : " + types + "\n  } : (" + types +
            ") -> (" + types + ")\n";
    unsigned result = 2;
    text += "  %q:" + std::to_string(stacked.size() + 2) + " = sgd.while(%i, %x" +
            list(", ", [&](int) { return "%r#" + std::to_string(result++); }) + ") trips 8 do {\n";
    text += kHead + list(", ", [](int n) { return "%s" + std::to_string(n) + ": tensor<8x64xf32>"; }) + "):\n" + kCount;
    std::string sum = "%v0";
    for (int n : stacked) {
      std::string number = std::to_string(n);
      text += "    %e" + number + " = sgd.dynamic_slice %s" + number +
              ", %n, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>\n    %v" +
              number + " = sgd.reshape %e" + number + " : tensor<1x64xf32> -> tensor<64xf32>\n    %t" + number +
              " = arith.addf " + sum + ", %v" + number + " : tensor<64xf32>\n";
      sum = "%t" + number;
    }
    text += "    sgd.yield %next, " + sum + list(", ", [](int n) { return "%s" + std::to_string(n); }) + " : " + types +
            "\n  } : (" + types + ") -> (" + types + ")\n  return %q#1 : tensor<64xf32>\n}\n";
    return parseSourceString<ModuleOp>(text, &context);
  }

 private:
  std::string list(const std::string& prefix, llvm::function_ref<std::string(int)> print) const {
    std::string text;
    for (int n : stacked) text += prefix + print(n);
    return text;
  }

  static constexpr const char* kHead = "  ^bb0(%n: tensor<i32>, %v0: tensor<64xf32>";
  static constexpr const char* kCount =
      "    %zero = arith.constant dense<0> : tensor<i32>\n    %one = arith.constant dense<1> : tensor<i32>\n"
      "    %next = arith.addi %n, %one : tensor<i32>\n";
  int numValues = 0;
  SmallVector<int> stacked;
  std::string body;
  llvm::raw_string_ostream os{body};
};

struct StackOrderTest : testing::Test {
  StackOrderTest() {
    DialectRegistry registry;
    registerCostModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<SgdDialect, func::FuncDialect, math::MathDialect>();
  }

  SmallVector<LoopPair, 0> find(Program& program) {
    module = program.parse(context);
    return module ? LoopPair::find(*module->getOps<func::FuncOp>().begin()) : SmallVector<LoopPair, 0>();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> noMesh{ModuleOp::create(UnknownLoc::get(&context))};
  OpTimes times{*noMesh, CostModel(*loadTopology("host"), {})};
};

/// The most bytes per second that one more stack frees, by cones that are walked as a whole; 0 if none frees any.
double getBestWorth(const LoopPair& pair, ArrayRef<unsigned> dropped, const OpTimes& times) {
  StackCone before = *ConeGrowth(pair, times).getAddition(dropped);
  double best = 0;
  for (unsigned stack = 0; stack < pair.getStacks().size(); ++stack) {
    if (llvm::is_contained(dropped, stack)) continue;
    SmallVector<unsigned> all(dropped);
    all.push_back(stack);
    StackCone after = *ConeGrowth(pair, times).getAddition(all);
    int64_t freed = pair.getStacks()[stack].bytes + before.newBytes - after.newBytes;
    if (freed > 0) best = std::max(best, static_cast<double>(freed) / std::max(after.seconds - before.seconds, 1e-12));
  }
  return best;
}

TEST_F(StackOrderTest, EachStepIsTheOneThatFreesMostPerSecond) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Program program;
    for (int value = 0; value < 14; ++value) {
      SmallVector<int> operands;
      for (unsigned operand = 0; operand <= random() % 2; ++operand) operands.push_back(random() % (value + 1));
      program.addValue(operands, random() % 3 != 0);
    }
    SmallVector<LoopPair, 0> pairs = find(program);
    ASSERT_EQ(pairs.size(), 1U) << "seed " << seed;
    StackOrder order = findStackOrder(pairs, times);
    SmallVector<unsigned> dropped;
    for (const StackStep& step : order.steps) {
      double best = getBestWorth(pairs.front(), dropped, times);
      if (step.stacks.size() == 1)
        EXPECT_NEAR(step.getWorth(), best, best * 1e-6) << "seed " << seed << ", step " << dropped.size();
      else
        EXPECT_EQ(best, 0) << "seed " << seed;
      llvm::append_range(dropped, step.stacks);
    }
    EXPECT_EQ(getBestWorth(pairs.front(), dropped, times), 0) << "seed " << seed;
  }
}

TEST_F(StackOrderTest, VisitsGrowWithTheNumberOfLayers) {
  uint64_t visited[2] = {};
  for (int layers : {16, 128}) {
    Program program;
    for (int layer = 0; layer < layers; ++layer) {
      program.addValue({2 * layer}, /*isStacked=*/true);
      program.addValue({2 * layer, 2 * layer + 1}, /*isStacked=*/true);
    }
    SmallVector<LoopPair, 0> pairs = find(program);
    ASSERT_EQ(pairs.size(), 1U);
    StackOrder order = findStackOrder(pairs, times);
    EXPECT_GE(order.steps.size(), static_cast<size_t>(layers));
    visited[layers == 128] = order.numVisited;
  }
  EXPECT_LE(visited[1], 9 * visited[0]);
}

TEST_F(StackOrderTest, CountEndsTheSearch) {
  Program program;
  for (int value = 0; value < 6; ++value) program.addValue({value}, /*isStacked=*/true);
  SmallVector<LoopPair, 0> pairs = find(program);
  EXPECT_EQ(findStackOrder(pairs, times, 2).steps.size(), 2U);
  EXPECT_EQ(findStackOrder(pairs, times, 0).numVisited, 0U);
}

}  // namespace
}  // namespace mlir::sgd
