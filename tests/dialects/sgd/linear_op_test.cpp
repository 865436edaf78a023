// Holds what every elementwise op says of its linearity against the reference evaluator, on random elements: a claim
// must hold, and what is not claimed of sums must not. Ops that a dialect gains are tested unasked.
#include "dialects/sgd/linear_op.h"

#include <gtest/gtest.h>

#include <random>

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

namespace mlir::sgd {
namespace {

using reference::Tensor;

constexpr int64_t kElements = 64;
constexpr ReduceKind kKinds[] = {ReduceKind::Add,  ReduceKind::Mul, ReduceKind::Max, ReduceKind::Min, ReduceKind::UMax,
                                 ReduceKind::UMin, ReduceKind::And, ReduceKind::Or,  ReduceKind::Xor};

struct LinearOpTest : testing::Test {
  LinearOpTest() : builder(&context) {
    context.loadDialect<SgdDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([](Diagnostic&) { return success(); });
  }

  RankedTensorType tensor(Type element) { return RankedTensorType::get({kElements}, element); }

  /// A function of `op` alone; null where the op has no such operands and result.
  OwningOpRef<func::FuncOp> build(StringRef name, ArrayRef<Type> operands, Type result) {
    Location loc = builder.getUnknownLoc();
    OwningOpRef<func::FuncOp> function =
        func::FuncOp::create(loc, "f", FunctionType::get(&context, operands, {result}));
    Block* block = function->addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    OperationState state(loc, name, block->getArguments(), {result}, {});
    Operation* op = inside.create(state);
    func::ReturnOp::create(inside, loc, op->getResults());
    return succeeded(verify(*function)) ? std::move(function) : OwningOpRef<func::FuncOp>();
  }

  /// Small multiples of a power of two of either sign, so that sums and products of a few are exact, half of them in
  /// the domains of inverse functions; integers of all bits.
  Tensor random(Type type) {
    Tensor made(cast<RankedTensorType>(type));
    for (int64_t i = 0; i < made.size(); ++i)
      if (made.isFloat())
        made.setFloat(i, std::uniform_int_distribution<int>(-16, 16)(engine) / (i % 2 ? 32.0 : 2.0));
      else
        made.setInteger(i, static_cast<int64_t>(engine() >> (engine() % 64)));
    return made;
  }

  std::optional<Tensor> combine(ReduceKind kind, const Tensor& a, const Tensor& b) {
    if (a.isFloat() && kind >= ReduceKind::UMax) return std::nullopt;
    auto function =
        func::FuncOp::create(builder.getUnknownLoc(), "r", FunctionType::get(&context, {a.type, a.type}, {a.type}));
    OwningOpRef<func::FuncOp> owned = function;
    Block* block = function.addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    Value combined =
        createCombiner(inside, builder.getUnknownLoc(), kind, block->getArgument(0), block->getArgument(1));
    func::ReturnOp::create(inside, builder.getUnknownLoc(), combined);
    auto results = reference::evaluate(function.front(), {a, b});
    return failed(results) ? std::nullopt : std::optional(results->front());
  }

  static bool areEqual(const Tensor& a, const Tensor& b) {
    for (int64_t i = 0; i < a.size(); ++i) {
      if (!a.isFloat() && a.integers[i] != b.integers[i]) return false;
      if (!a.isFloat()) continue;
      double x = a.floats[i], y = b.floats[i];
      // Nothing is said of what is not a number, or of a rounding.
      if (std::isfinite(x) && std::isfinite(y) && std::abs(x - y) > 1e-2 * std::max(1.0, std::abs(x))) return false;
    }
    return true;
  }

  /// Whether f(r(x, y)) = r(f(x), f(y)) where `combined` operands are combined and the others are the same; nullopt
  /// where that cannot be said.
  std::optional<bool> holds(func::FuncOp function, ArrayRef<bool> combined, ReduceKind kind) {
    for (int trial = 0; trial < 4; ++trial) {
      std::vector<Tensor> x, y, both;
      for (auto [type, isCombined] : llvm::zip(function.getArgumentTypes(), combined)) {
        x.push_back(random(type));
        y.push_back(isCombined ? random(type) : x.back());
        std::optional<Tensor> r = isCombined ? combine(kind, x.back(), y.back()) : std::optional(x.back());
        if (!r) return std::nullopt;
        both.push_back(*r);
      }
      auto fx = reference::evaluate(function.front(), x), fy = reference::evaluate(function.front(), y),
           f = reference::evaluate(function.front(), both);
      if (failed(fx) || failed(fy) || failed(f)) return std::nullopt;
      std::optional<Tensor> expected = combine(kind, fx->front(), fy->front());
      if (!expected) return std::nullopt;
      if (!areEqual(f->front(), *expected)) return false;
    }
    return true;
  }

  struct Checked {
    unsigned claims = 0, denials = 0;
  };

  void check(func::FuncOp function, Checked& checked) {
    Operation* op = &function.front().front();
    for (ReduceKind kind : kKinds) {
      SmallVector<bool> together, any;
      for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
        together.push_back(getLinearity(op, operand, kind) == Linearity::Together);
      auto what = [&](StringRef claim) {
        std::string text;
        llvm::raw_string_ostream(text) << *op << " " << stringifyReduceKind(kind) << " " << claim;
        return text;
      };
      if (llvm::is_contained(together, true)) {
        std::optional<bool> isTrue = holds(function, together, kind);
        checked.claims += isTrue.has_value();
        EXPECT_TRUE(isTrue.value_or(true)) << what("together");
      }
      for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
        SmallVector<bool> alone(op->getNumOperands(), false);
        alone[operand] = true;
        Linearity linearity = getLinearity(op, operand, kind);
        // Idempotent combinations of a value and the same are that value: max(x, c) is linear in x alone too.
        if (linearity == Linearity::Together || (linearity == Linearity::None && kind != ReduceKind::Add)) continue;
        std::optional<bool> isTrue = holds(function, alone, kind);
        (linearity == Linearity::Alone ? checked.claims : checked.denials) += isTrue.has_value();
        if (isTrue) EXPECT_EQ(*isTrue, linearity == Linearity::Alone) << what("alone in ") << operand;
      }
    }
  }

  MLIRContext context;
  OpBuilder builder;
  std::mt19937_64 engine{20261122};
};

TEST_F(LinearOpTest, ElementwiseOpsAreAsLinearAsTheySay) {
  Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type(), i1 = builder.getI1Type(), i16 = builder.getI16Type(),
       i32 = builder.getI32Type();
  // From operands to a result; a condition comes first.
  const std::vector<std::pair<SmallVector<Type>, Type>> kForms = {
      {{f32}, f32}, {{i32}, i32}, {{bf16}, f32},     {{f32}, bf16},     {{i16}, i32},          {{i32}, i16},
      {{f32}, i32}, {{i32}, f32}, {{f32, f32}, f32}, {{i32, i32}, i32}, {{i1, f32, f32}, f32}, {{i1, i32, i32}, i32}};
  Checked checked;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    // Between equal types a bitcast is nothing.
    if (!name.hasTrait<OpTrait::Elementwise>() || name.getStringRef() == arith::BitcastOp::getOperationName()) continue;
    for (const auto& [operands, result] : kForms) {
      auto types = llvm::map_to_vector(operands, [&](Type type) -> Type { return tensor(type); });
      if (OwningOpRef<func::FuncOp> function = build(name.getStringRef(), types, tensor(result)))
        check(*function, checked);
    }
  }
  EXPECT_GE(checked.claims, 30u);
  EXPECT_GE(checked.denials, 60u);
}

TEST_F(LinearOpTest, ASquareIsNotLinear) {
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.mulf %a, %a : tensor<4xf32>
      %1 = arith.divf %0, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    })",
                                            &context);
  ASSERT_TRUE(module);
  for (Operation& op : cast<func::FuncOp>(module->getBody()->front()).front().without_terminator())
    EXPECT_EQ(getLinearity(&op, 0, ReduceKind::Add), Linearity::None);
}

TEST_F(LinearOpTest, MovementIsLinearAndAPadOnlyWithTheNeutralElement) {
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: tensor<2x4xf32>) {
      %zero = arith.constant dense<0.0> : tensor<f32>
      %0 = sgd.transpose %a permutation = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
      %1 = sgd.reverse %a dimensions = [1] : tensor<2x4xf32>
      %2 = sgd.slice %a starts = [0, 1] limits = [2, 4] strides = [1, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
      %3 = sgd.broadcast_in_dim %a dims = [1, 2] : tensor<2x4xf32> -> tensor<3x2x4xf32>
      %4 = sgd.broadcast_in_dim %a dims = [1, 2] : tensor<2x4xf32> -> tensor<1x2x4xf32>
      %5 = sgd.pad %a, %zero low = [0, 1] high = [0, 0] interior = [0, 0] : tensor<2x4xf32>, tensor<f32> -> tensor<2x5xf32>
      %6 = sgd.reduce max %a dimensions = [0] : tensor<2x4xf32> -> tensor<4xf32>
      return
    })",
                                            &context);
  ASSERT_TRUE(module);
  Block& block = cast<func::FuncOp>(module->getBody()->front()).front();
  auto ops = llvm::map_to_vector(block.without_terminator(), [](Operation& op) { return &op; });
  for (unsigned op = 1; op <= 5; ++op)
    for (ReduceKind kind : kKinds) EXPECT_EQ(getLinearity(ops[op], 0, kind), Linearity::Alone) << op;
  auto keeps = llvm::map_to_vector(ops, keepsAllElements);
  EXPECT_EQ(keeps, (SmallVector<bool>{false, true, true, false, false, true, false, false}));
  EXPECT_EQ(getLinearity(ops[6], 0, ReduceKind::Add), Linearity::Alone);
  EXPECT_EQ(getLinearity(ops[6], 0, ReduceKind::Max), Linearity::None);
  EXPECT_EQ(getLinearity(ops[6], 1, ReduceKind::Add), Linearity::None);
  EXPECT_EQ(getLinearity(ops[7], 0, ReduceKind::Max), Linearity::Alone);
  EXPECT_EQ(getLinearity(ops[7], 0, ReduceKind::Add), Linearity::None);
}

}  // namespace
}  // namespace mlir::sgd
