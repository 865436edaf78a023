// Over which axes values differ between ranks: each text says it beside the op.
#include "passes/sharding/manual/differing_axes.h"

#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

namespace mlir::sgd {
namespace {

class DifferingValues : public ::testing::Test {
 protected:
  DifferingValues() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// Ops of a body over axes "x" (0) of 2 and "y" (1) of 3 ranks, where %a differs over both, %b over "y" and %c over
  /// none, %r and %s are the rank's index along "x" and "y", and %k is 0. The
  /// attribute `differs` of an op is what its first result differs over.
  void check(const std::string& ops) {
    auto module = parseSourceString<ModuleOp>(
        R"(sgd.mesh @mesh = <["x"=2, "y"=3]>
        func.func @main(%in0: tensor<2x6xf32>, %in1: tensor<6xf32>, %in2: tensor<6xf32>) -> tensor<6xf32> {
          %m = sgd.manual_computation(%in0, %in1, %in2) in [#sgd.sharding<@mesh, [{"x"}, {"y"}]>, #sgd.sharding<@mesh, [{"y"}]>,
            #sgd.sharding<@mesh, [{}]>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x", "y"}> {
          ^bb0(%a: tensor<1x2xf32>, %b: tensor<2xf32>, %c: tensor<6xf32>):
          %r = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
          %s = spmd.partition_id <@mesh, {"y"}> : tensor<i32>
          %k = arith.constant dense<0> : tensor<i32>
          )" +
            ops + R"(
          sgd.yield %c : tensor<6xf32>
          } : (tensor<2x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
          return %m : tensor<6xf32>
        })",
        &context);
    ASSERT_TRUE(module) << ops;
    auto cut = CutMesh::create(getMesh(*module).getMesh(), {});
    RankArithmetic ranks(*cut);
    DifferingAxes differing(*cut, ranks);
    module->walk([&](ManualComputationOp op) { differing.visit(op, SmallVector<AxisIndices>(3)); });
    int checked = 0;
    module->walk([&](Operation* op) {
      if (auto axes = op->getAttrOfType<DenseI32ArrayAttr>("differs")) {
        ++checked;
        EXPECT_EQ(AxisIndices(axes.asArrayRef()), differing.getAxes(op->getResult(0))) << ops;
      }
    });
    EXPECT_GT(checked, 0);
  }

  MLIRContext context;
};

TEST_F(DifferingValues, OpsUniteTheirOperands) {
  check(R"(%1 = arith.negf %a {differs = array<i32: 0, 1>} : tensor<1x2xf32>
    %2 = arith.negf %c {differs = array<i32>} : tensor<6xf32>
    %3 = sgd.slice %c starts = [0] limits = [2] strides = [1] {differs = array<i32>} : tensor<6xf32> -> tensor<2xf32>
    %4 = arith.addf %b, %3 {differs = array<i32: 1>} : tensor<2xf32>)");
}

TEST_F(DifferingValues, ScalarsOfRanksAreComputed) {
  check(R"(%1 = arith.muli %r, %k {differs = array<i32>} : tensor<i32>
    %2 = arith.addi %r, %s {differs = array<i32: 0, 1>} : tensor<i32>
    %3 = arith.subi %2, %s {differs = array<i32: 0>} : tensor<i32>
    %4 = sgd.divui %r, %k {differs = array<i32: 0>} : tensor<i32>)");
}

TEST_F(DifferingValues, CollectivesSettleAndDivide) {
  check(R"(%1 = spmd.all_reduce add(%a) <@mesh, {"y"}> {differs = array<i32: 0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = spmd.all_gather(%b) dims = [0] <@mesh, {"y"}> {differs = array<i32>} : (tensor<2xf32>) -> tensor<6xf32>
    %3 = spmd.reduce_scatter add(%c) dims = [0] <@mesh, {"y"}> {differs = array<i32: 1>} : (tensor<6xf32>) -> tensor<2xf32>
    %4 = spmd.broadcast %a <@mesh, {"x"}> {differs = array<i32: 1>} : tensor<1x2xf32>
    %5 = sgd.permute_ranks %c pairs = [0, 1] over <@mesh, {"x"}> {differs = array<i32: 0>} : tensor<6xf32>)");
}

TEST_F(DifferingValues, LoopsPassOnWhatIsCarriedAround) {
  // %c comes round to where %b was in the second iteration, and %b to where %c was.
  check(R"(%d = sgd.slice %c starts = [0] limits = [2] strides = [1] : tensor<6xf32> -> tensor<2xf32>
    %1, %2 = sgd.while(%d, %b) trips 2 do {
    ^bb1(%v: tensor<2xf32>, %w: tensor<2xf32>):
      %4 = arith.negf %v {differs = array<i32: 1>} : tensor<2xf32>
      sgd.yield %w, %4 : tensor<2xf32>, tensor<2xf32>
    } : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    %5 = arith.negf %1 {differs = array<i32: 1>} : tensor<2xf32>)");
}

TEST_F(DifferingValues, WhatALoopChangesDiffersWhereItsEndDoes) {
  check(R"(%1, %2, %3, %last = sgd.while(%c, %k, %c, %r) while {
    ^bb1(%v: tensor<6xf32>, %n: tensor<i32>, %w: tensor<6xf32>, %end: tensor<i32>):
      %go = arith.cmpi slt, %n, %end : tensor<i32>
      sgd.yield %go : tensor<i1>
    } do {
    ^bb1(%v: tensor<6xf32>, %n: tensor<i32>, %w: tensor<6xf32>, %end: tensor<i32>):
      %one = arith.constant dense<1> : tensor<i32>
      %next = arith.addi %n, %one : tensor<i32>
      %twice = arith.addf %v, %v : tensor<6xf32>
      sgd.yield %twice, %next, %w, %end : tensor<6xf32>, tensor<i32>, tensor<6xf32>, tensor<i32>
    } : (tensor<6xf32>, tensor<i32>, tensor<6xf32>, tensor<i32>) -> (tensor<6xf32>, tensor<i32>, tensor<6xf32>, tensor<i32>)
    %4 = arith.negf %1 {differs = array<i32: 0>} : tensor<6xf32>
    %5 = arith.negf %3 {differs = array<i32>} : tensor<6xf32>)");
}

TEST_F(DifferingValues, BranchesDifferWhereTheIndexOrTheirResultsDo) {
  check(R"(%1 = sgd.case %r(%c) {
    ^bb1(%v: tensor<6xf32>):
      sgd.yield %v : tensor<6xf32>
    }, {
    ^bb1(%v: tensor<6xf32>):
      %n = arith.negf %v {differs = array<i32>} : tensor<6xf32>
      sgd.yield %n : tensor<6xf32>
    } : (tensor<i32>, tensor<6xf32>) -> tensor<6xf32>
    %2 = arith.negf %1 {differs = array<i32: 0>} : tensor<6xf32>)");
}

}  // namespace
}  // namespace mlir::sgd
