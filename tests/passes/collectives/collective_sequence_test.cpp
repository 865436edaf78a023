// The sequence of collectives as reports and the artifact see it.
#include "passes/collectives/collective_sequence.h"

#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class CollectiveSequence : public testing::Test {
 protected:
  CollectiveSequence() { context.loadDialect<SgdDialect, spmd::SpmdDialect, func::FuncDialect>(); }

  std::vector<CollectiveRecord> parse(StringRef body) {
    std::string text = "sgd.mesh @mesh = <[\"x\"=4, \"y\"=2]>\nfunc.func @main(%a: tensor<8x8xf32>, %i: tensor<i32>) {\n" + body.str() + "\nreturn }";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module));
    return computeCollectiveSequence(*module->getOps<func::FuncOp>().begin());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr char kReduce[] = R"(%0:2 = spmd.all_reduce add(%a, %i) <@mesh, {"x"}> : (tensor<8x8xf32>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>))";

TEST_F(CollectiveSequence, RecordsSayWhatIsSent) {
  std::vector<CollectiveRecord> sequence = parse(kReduce);
  ASSERT_EQ(sequence.size(), 1u);
  EXPECT_EQ(sequence[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(sequence[0].reduce, ReduceKind::Add);
  EXPECT_EQ(sequence[0].elements, (SmallVector<std::string>{"f32", "i32"}));
  EXPECT_EQ(sequence[0].counts, (SmallVector<int64_t>{64, 1}));
  EXPECT_EQ(sequence[0].bytes, 260u);
  EXPECT_EQ(sequence[0].getSentBytes(), 390u);
}

TEST_F(CollectiveSequence, GathersCountTheirResult) {
  std::vector<CollectiveRecord> sequence =
      parse(R"(%0 = spmd.all_gather(%a) dims = [0] <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<32x8xf32>
               %1 = spmd.collective_permute %a from <@mesh, {"x", "y"}> to <@mesh, {"y", "x"}> : tensor<8x8xf32>)");
  ASSERT_EQ(sequence.size(), 2u);
  EXPECT_EQ(sequence[0].getSentBytes(), 768u);
  EXPECT_EQ(sequence[1].fromAxes.size(), 2u);
  EXPECT_EQ(getSentBytes(sequence), 768u + 256u);
}

TEST_F(CollectiveSequence, HashSeesKindReductionAxesTypesAndOrder) {
  auto hash = [&](StringRef body) { return hashCollectiveSequence(parse(body)); };
  auto reference = hash(kReduce);
  EXPECT_EQ(hash(kReduce), reference);
  EXPECT_NE(hash(R"(%0:2 = spmd.all_reduce max(%a, %i) <@mesh, {"x"}> : (tensor<8x8xf32>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>))"), reference);
  EXPECT_NE(hash(R"(%0:2 = spmd.all_reduce add(%a, %i) <@mesh, {"y"}> : (tensor<8x8xf32>, tensor<i32>) -> (tensor<8x8xf32>, tensor<i32>))"), reference);
  EXPECT_NE(hash(R"(%0:2 = spmd.all_reduce add(%i, %a) <@mesh, {"x"}> : (tensor<i32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>))"), reference);
  EXPECT_NE(hash(""), reference);
}
}  // namespace
