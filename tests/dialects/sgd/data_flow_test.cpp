// Edges of loops, branches, manual computations and barriers: every target is on one, and ways there and back agree.
#include "dialects/sgd/data_flow.h"

#include <gtest/gtest.h>

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Parser/Parser.h"

namespace mlir::sgd {
namespace {

constexpr char kProgram[] = R"(
  sgd.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<i32>) {
    %0:2 = sgd.while (%a, %b) trips 8 do {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %s = arith.addf %x, %y : tensor<4xf32>
      sgd.yield %s, %y : tensor<4xf32>, tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1 = sgd.while (%a) while {
    ^bb0(%x: tensor<4xf32>):
      %go = arith.constant dense<false> : tensor<i1>
      sgd.yield %go : tensor<i1>
    } do {
    ^bb0(%x: tensor<4xf32>):
      %s = math.exp %x : tensor<4xf32>
      sgd.yield %s : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %2:2 = sgd.case %i (%a) {
    ^bb0(%x: tensor<4xf32>):
      sgd.yield %x, %x : tensor<4xf32>, tensor<4xf32>
    }, {
    ^bb0(%x: tensor<4xf32>):
      %s = math.exp %x : tensor<4xf32>
      sgd.yield %s, %x : tensor<4xf32>, tensor<4xf32>
    } : (tensor<i32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %3 = sgd.manual_computation(%a, %b) in [#sgd.sharding<@mesh, [{"x"}]>, #sgd.sharding<@mesh, [{"x"}]>]
        out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
    ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
      sgd.yield %y : tensor<2xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4:2 = sgd.optimization_barrier %a, %b : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return
  })";

struct DataFlowTest : testing::Test {
  DataFlowTest() {
    context.loadDialect<SgdDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
    module->walk([&](DataFlowOpInterface op) { ops.push_back(op); });
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<DataFlowOpInterface> ops;
};

TEST_F(DataFlowTest, NumbersOfEdges) {
  auto numbers = llvm::map_to_vector(ops, [](DataFlowOpInterface op) { return op.getNumDataFlowEdges(); });
  EXPECT_EQ(numbers, (SmallVector<unsigned>{2, 1, 3, 3, 2}));
}

TEST_F(DataFlowTest, EveryTargetIsOnOneEdgeAndEverySourceKnowsIt) {
  for (DataFlowOpInterface op : ops) {
    DenseMap<Value, unsigned> expected;
    for (auto [index, edge] : llvm::enumerate(op.getDataFlowEdges())) {
      for (Value target : edge.targets) {
        EXPECT_TRUE(expected.try_emplace(target, index).second);
        EXPECT_EQ(op.getDataFlowEdgeInto(target), index);
      }
      for (OpOperand* source : edge.sources) EXPECT_EQ(op.getDataFlowEdgeFrom(*source), index);
      if (isa<ManualComputationOp>(*op)) continue;
      for (Value target : edge.targets) EXPECT_EQ(target.getType(), edge.sources.front()->get().getType());
    }
    for (Value result : op->getResults()) EXPECT_TRUE(expected.contains(result));
    for (Region& region : op->getRegions())
      for (Value argument : region.getArguments()) EXPECT_TRUE(expected.contains(argument));
  }
}

TEST_F(DataFlowTest, LoopsJoinWhatTheyCarry) {
  auto loop = cast<WhileOp>(*ops[0]), unknown = cast<WhileOp>(*ops[1]);
  DataFlowEdge edge = ops[0].getDataFlowEdge(0);
  ASSERT_EQ(edge.sources.size(), 2u);
  EXPECT_EQ(edge.sources[0]->get(), loop.getInits()[0]);
  EXPECT_EQ(edge.sources[1]->get(), loop.getYielded()[0]);
  EXPECT_EQ(edge.getOwner(), loop.getBody().getArgument(0));
  EXPECT_EQ(edge.getResult(), loop.getResult(0));
  EXPECT_TRUE(edge.isChosen());
  EXPECT_FALSE(ops[0].getDataFlowEdge(1).isChosen()) << "the body leaves it as it is";
  EXPECT_FALSE(ops[0].getDecider());
  EXPECT_EQ(ops[1].getDataFlowEdge(0).targets.back(), unknown.getCondition().getArgument(0));
  OpOperand& predicate = unknown.getCondition().front().getTerminator()->getOpOperand(0);
  EXPECT_EQ(ops[1].getDecider(), predicate.get());
  EXPECT_FALSE(ops[1].getDataFlowEdgeFrom(predicate).has_value());
}

TEST_F(DataFlowTest, BranchesTakeInputsAndGiveResults) {
  auto branches = cast<CaseOp>(*ops[2]);
  DataFlowEdge input = ops[2].getDataFlowEdge(0), result = ops[2].getDataFlowEdge(2);
  EXPECT_EQ(input.targets.size(), 2u);
  EXPECT_FALSE(input.getResult());
  EXPECT_FALSE(input.isChosen());
  EXPECT_EQ(result.getOwner(), branches.getResult(1));
  EXPECT_EQ(result.sources.size(), 2u);
  EXPECT_TRUE(result.isChosen());
  EXPECT_EQ(ops[2].getDecider(), branches.getIndex());
  EXPECT_FALSE(ops[2].getDataFlowEdgeFrom(branches->getOpOperand(0)).has_value());
}

TEST_F(DataFlowTest, BarriersHandOnEachOperand) {
  DataFlowEdge edge = ops[4].getDataFlowEdge(1);
  EXPECT_EQ(edge.sources.front()->get(), ops[4]->getOperand(1));
  EXPECT_EQ(edge.getOwner(), ops[4]->getResult(1));
  EXPECT_FALSE(edge.isChosen());
}

}  // namespace
}  // namespace mlir::sgd
