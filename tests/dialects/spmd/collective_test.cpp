// Every op through which ranks exchange data has the interface and says what it is; kinds have one name everywhere.
#include "dialects/spmd/collective.h"

#include <gtest/gtest.h>

#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

namespace mlir::spmd {
namespace {

constexpr char kProgram[] = R"(
  sgd.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8x4xf32>) {
    %0 = spmd.all_reduce max (%a) <@mesh, {"x"}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = spmd.all_gather (%a) dims = [1] <@mesh, {"y"}> : (tensor<8x4xf32>) -> tensor<8x8xf32>
    %2 = spmd.reduce_scatter add (%a) dims = [0] <@mesh, {"x"}> : (tensor<8x4xf32>) -> tensor<2x4xf32>
    %3 = spmd.all_to_all %a split = 0 concat = 1 <@mesh, {"y"}> : tensor<8x4xf32> -> tensor<4x8xf32>
    %4 = spmd.collective_permute %a from <@mesh, {"x", "y"}> to <@mesh, {"y", "x"}> : tensor<8x4xf32>
    %5 = spmd.broadcast %a <@mesh, {"x"}> : tensor<8x4xf32>
    %6 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 1, size = 15, scale = -4, offset = 11, step = 2>]
      <@mesh, {"x"}> to <@mesh, {"y", "x"}> : (tensor<8x4xf32>) -> tensor<8x2xf32>
    %7 = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
    %8 = spmd.shard_slice %a dim = 0 <@mesh, {"y"}> : tensor<8x4xf32> -> tensor<4x4xf32>
    return
  })";

struct CollectiveTest : testing::Test {
  CollectiveTest() {
    context.loadDialect<SpmdDialect, mlir::sgd::SgdDialect, plan::PlanDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
  }
  std::vector<CollectiveOpInterface> getCollectives() {
    std::vector<CollectiveOpInterface> found;
    module->walk([&](CollectiveOpInterface op) { found.push_back(op); });
    return found;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(CollectiveTest, AllKindsAndNothingElse) {
  ASSERT_TRUE(module);
  std::vector<CollectiveKind> kinds;
  for (CollectiveOpInterface op : getCollectives()) {
    EXPECT_EQ(op->getName().stripDialect().str().find("partition_id"), std::string::npos);
    kinds.push_back(op.getCollectiveKind());
    EXPECT_EQ(op.getGroup().getMesh().getValue(), "mesh");
  }
  EXPECT_EQ(kinds, (std::vector<CollectiveKind>{CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                                CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                                CollectiveKind::kPermute, CollectiveKind::kBroadcast,
                                                CollectiveKind::kGatherRange}));
}

TEST_F(CollectiveTest, FormsSayWhatOpsSay) {
  ASSERT_TRUE(module);
  std::vector<CollectiveOpInterface> ops = getCollectives();
  EXPECT_EQ(ops[0].getForm().reduce, mlir::sgd::ReduceKind::Max);
  EXPECT_EQ(ops[1].getForm().dims, (SmallVector<int64_t>{1}));
  EXPECT_EQ(ops[2].getForm().divides, ops[2].getGroup());
  EXPECT_EQ(ops[3].getForm().dims, (SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(ops[4].getForm().from, cast<CollectivePermuteOp>(*ops[4]).getFrom());
  EXPECT_EQ(ops[4].getGroup(), cast<CollectivePermuteOp>(*ops[4]).getTo());
  EXPECT_EQ(ops[5].getForm().settles, ops[5].getGroup());
  EXPECT_EQ(ops[6].getForm().divides, cast<GatherRangeOp>(*ops[6]).getTo());
  EXPECT_EQ(ops[6].getForm().ranges.size(), 1u);
}

TEST_F(CollectiveTest, BucketsAreOfTheSameKind) {
  ASSERT_TRUE(module);
  for (CollectiveOpInterface op : getCollectives()) {
    CollectiveForm form = op.getForm();
    EXPECT_EQ(form.isLike(form), form.takesBuckets);
    OpBuilder builder(op);
    Value input = op->getOperand(0), result = op->getResult(0);
    SmallVector<int64_t> dims(form.dims);
    dims.append(form.dims);
    SmallVector<Attribute> ranges;
    for (int i = 0; i < 2 && form.ranges; ++i) llvm::append_range(ranges, form.ranges);
    Operation* bucket =
        op.createBucket(builder, op->getLoc(), {result.getType(), result.getType()}, {input, input}, dims, ranges);
    ASSERT_EQ(bucket != nullptr, form.takesBuckets);
    if (!bucket) continue;
    EXPECT_EQ(bucket->getName(), op->getName());
    EXPECT_TRUE(cast<CollectiveOpInterface>(bucket).getForm().isLike(form));
  }
  EXPECT_TRUE(succeeded(module->verify()));
  std::vector<CollectiveOpInterface> ops = getCollectives();
  EXPECT_FALSE(ops.front().getForm().isLike(ops.back().getForm()));
}

}  // namespace
}  // namespace mlir::spmd
