// What values of a step are called in explanations.
#include "passes/graph/carry/value_names.h"

#include <gtest/gtest.h>

#include "compiler/driver/registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A step by momentum whose loss has a norm of the gradient in it, so that the norm leads to every result.
constexpr const char* kStep = R"(
func.func @main(%w: tensor<8x8xf32> {sgd.name = "params['w']", sgd.role = #sgd.role<parameter>},
                %m: tensor<8x8xf32> {sgd.name = "momentum['w']", sgd.role = #sgd.role<optimizer_state>},
                %x: tensor<16x8xf32> {sgd.name = "batch['x']"})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<f32> {sgd.name = "result[0]['loss']"}, tensor<8x8xf32>) {
  %t = sgd.transpose %w permutation = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32> loc("turned")
  %y = sgd.dot_general %x, %t batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32> loc("hidden")
  %a = math.tanh %y : tensor<16x8xf32> loc("activation")
  %g = sgd.dot_general %x, %a batching = [] x [] contracting = [0] x [0] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<8x8xf32> loc("gradient")
  %s = arith.addf %m, %g : tensor<8x8xf32> loc("new momentum")
  %n = arith.subf %w, %s : tensor<8x8xf32> loc("new weight")
  %r = sgd.transpose %x permutation = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32> loc("rows")
  %e = arith.mulf %a, %a : tensor<16x8xf32>
  %l = sgd.reduce add %e dimensions = [0, 1] : tensor<16x8xf32> -> tensor<f32> loc("loss")
  return %n, %s, %l, %w : tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<8x8xf32>
}
)";

class ValueNames : public ::testing::Test {
 protected:
  ValueNames() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
    module = parseSourceString<ModuleOp>(kStep, &context);
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  func::FuncOp getFunction() { return module->lookupSymbol<func::FuncOp>("main"); }

  /// Of the result of the op at this location.
  std::string describe(StringRef name) {
    std::string text = "no such op";
    getFunction().walk([&](Operation* op) {
      auto location = dyn_cast<NameLoc>(op->getLoc());
      if (location && location.getName() == name) text = describeValue(getFunction(), op->getResult(0));
    });
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ValueNames, TellGradientsFromStateAndActivations) {
  ASSERT_TRUE(module);
  EXPECT_EQ(describe("turned"), "params.w") << "moved";
  EXPECT_EQ(describe("rows"), "input batch.x");
  EXPECT_EQ(describe("gradient"), "gradient of params.w") << "through the momentum";
  EXPECT_EQ(describe("new momentum"), "new momentum.w") << "and not a gradient, which it leads on to as well";
  EXPECT_EQ(describe("new weight"), "new params.w");
  EXPECT_EQ(describe("activation"), "activations for the gradient of params.w");
  EXPECT_EQ(describe("loss"), "result.0.loss");
  EXPECT_EQ(describe("hidden").rfind("gradient", 0), std::string::npos) << "it leads to no parameter by elements";
}

TEST_F(ValueNames, NamesWithoutKeysStayAsTheyAre) {
  EXPECT_EQ(getDottedName(getFunction(), 2), "batch.x");
  EXPECT_EQ(getDottedName("result[1]['params']['w']"), "result.1.params.w");
  EXPECT_EQ(getDottedName("result 0"), "result 0");
  EXPECT_EQ(getDottedName("loss"), "loss");
}

}  // namespace
