// Collectives: which ranks, and how the elements of each operand are dealt out.
#include <gtest/gtest.h>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

using artifact::CollectiveKind;
using artifact::Operation;

std::string sharded(const std::string& type, const std::string& dims) {
  return type + " {sgd.sharding = #sgd.sharding<@mesh, [" + dims + "]>}";
}

/// The artifact of a program whose one collective changes a value's sharding.
std::unique_ptr<artifact::ArtifactFile> compileReshard(const std::string& type, const std::string& from,
                                                       const std::string& to) {
  return compileToFile("sgd.mesh @mesh = <[\"x\"=4, \"y\"=2]>\nfunc.func @main(%v: " + sharded(type, from) + ") -> (" +
                       sharded(type, to) + ") {\n  return %v : " + type + "\n}\n");
}

const artifact::Collective* findCollective(const artifact::ArtifactFile& file) {
  auto found = findInstructions(*file.root().programs()->Get(0), Operation::Collective);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? nullptr : found[0]->op_as_Collective();
}

/// {axis, pre-size, size} of each.
std::vector<std::array<uint32_t, 3>> toTriples(const flatbuffers::Vector<const artifact::AxisRef*>* axes) {
  std::vector<std::array<uint32_t, 3>> triples;
  for (const artifact::AxisRef* axis : *axes) triples.push_back({axis->axis(), axis->pre_size(), axis->size()});
  return triples;
}

using Triples = std::vector<std::array<uint32_t, 3>>;

TEST(ExportCollectives, AGatherJoinsTilesBeforeTheInnerDimensions) {
  auto file = compileReshard("tensor<6x64x3xf32>", "{}, {\"x\"}, {}", "{}, {}, {}");
  ASSERT_TRUE(file);
  const artifact::Collective* gather = findCollective(*file);
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->kind(), CollectiveKind::AllGather);
  EXPECT_EQ(toTriples(gather->axes()), (Triples{{0, 1, 4}}));
  ASSERT_EQ(gather->operands()->size(), 1u);
  const artifact::CollectiveOperand& operand = *gather->operands()->Get(0);
  EXPECT_EQ(operand.outer(), 6u);
  EXPECT_EQ(operand.inner(), 16u * 3);  // rows of a rank, and what is inside of them
  EXPECT_EQ(operand.count(), 6u * 16 * 3);
  EXPECT_EQ(operand.source()->size(), 6u * 16 * 3 * 4);
  EXPECT_EQ(operand.target()->size(), 6u * 64 * 3 * 4);
  EXPECT_EQ(file->root().programs()->Get(0)->sent_bytes(), 6u * 64 * 3 * 4 * 3 / 4);
}

TEST(ExportCollectives, AnExchangeHasLocalSizesAndBothDimensions) {
  auto file = compileReshard("tensor<8x12xf32>", "{\"x\"}, {}", "{}, {\"x\"}");
  ASSERT_TRUE(file);
  const artifact::Collective* exchange = findCollective(*file);
  ASSERT_TRUE(exchange);
  EXPECT_EQ(exchange->kind(), CollectiveKind::AllToAll);
  const artifact::CollectiveOperand& operand = *exchange->operands()->Get(0);
  EXPECT_EQ(toNumbers(operand.dims()), (std::vector<uint64_t>{2, 12}));
  EXPECT_EQ(operand.split(), 1u);
  EXPECT_EQ(operand.concat(), 0u);
}

TEST(ExportCollectives, APermutationSaysTheOrderThatItComesFrom) {
  auto file = compileReshard("tensor<64xf32>", "{\"x\", \"y\"}", "{\"y\", \"x\"}");
  ASSERT_TRUE(file);
  const artifact::Collective* permute = findCollective(*file);
  ASSERT_TRUE(permute);
  EXPECT_EQ(permute->kind(), CollectiveKind::Permute);
  EXPECT_EQ(toTriples(permute->axes()), (Triples{{1, 1, 2}, {0, 1, 4}}));
  EXPECT_EQ(toTriples(permute->from_axes()), (Triples{{0, 1, 4}, {1, 1, 2}}));
}

TEST(ExportCollectives, PartsOfAnAxisKeepWhatIsBeforeThem) {
  auto file = compileReshard("tensor<64xf32>", "{\"x\":(2)2}", "{}");
  ASSERT_TRUE(file);
  const artifact::Collective* gather = findCollective(*file);
  ASSERT_TRUE(gather);
  EXPECT_EQ(toTriples(gather->axes()), (Triples{{0, 2, 2}}));
}

/// A sum of four ranks' rows of type `type`, of which each keeps its own.
std::string getSum(const std::string& kind, const std::string& element) {
  return "sgd.mesh @mesh = <[\"x\"=4]>\nfunc.func @main(%v: " +
         sharded("tensor<4x8x3x" + element + ">", "{\"x\"}, {}, {}") + ") -> (" +
         sharded("tensor<8x3x" + element + ">", "{\"x\"}, {}") + ") {\n  %0 = sgd.reduce " + kind +
         " %v dimensions = [0] : tensor<4x8x3x" + element + "> -> tensor<8x3x" + element +
         ">\n  return %0 : tensor<8x3x" + element + ">\n}\n";
}

TEST(ExportCollectives, AReductionCountsTheElementsOfItsResult) {
  auto file = compileToFile(getSum("max", "f32"));
  ASSERT_TRUE(file);
  const artifact::Collective* scatter = findCollective(*file);
  ASSERT_TRUE(scatter);
  EXPECT_EQ(scatter->kind(), CollectiveKind::ReduceScatter);
  EXPECT_EQ(scatter->reduce(), artifact::ReduceKind::Max);
  const artifact::CollectiveOperand& operand = *scatter->operands()->Get(0);
  EXPECT_EQ(operand.element(), artifact::ElementType::F32);
  EXPECT_EQ(operand.outer(), 1u);
  EXPECT_EQ(operand.inner(), 2u * 3);
  EXPECT_EQ(operand.count(), 8u * 3);
}

// Bits have no sign; the runtime compares by the element type.
TEST(ExportCollectives, UnsignedMaximaAreOfUnsignedElements) {
  for (auto [kind, element] :
       {std::pair("umax", artifact::ElementType::U32), std::pair("max", artifact::ElementType::I32)}) {
    auto file = compileToFile(getSum(kind, "i32"));
    ASSERT_TRUE(file);
    const artifact::Collective* scatter = findCollective(*file);
    ASSERT_TRUE(scatter);
    EXPECT_EQ(scatter->reduce(), artifact::ReduceKind::Max) << kind;
    EXPECT_EQ(scatter->operands()->Get(0)->element(), element) << kind;
  }
}

TEST(ExportCollectives, TheReasonNamesTheSourceLineAndShardings) {
  auto file = compileToFile(getSum("add", "f32"));
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  ASSERT_EQ(program.explain()->size(), 1u);
  const artifact::Explain& explain = *program.explain()->Get(0);
  EXPECT_EQ(explain.cause(), artifact::MovementCause::Producer);
  EXPECT_EQ(toText(explain.op()), "sgd.reduce");
  EXPECT_EQ(toText(explain.source()), "step.mlir:3:8");
  EXPECT_EQ(toText(explain.tensor()), "result0, tensor<8x3xf32>");
  EXPECT_EQ(toText(explain.kind()), "reduce_scatter");
  EXPECT_EQ(explain.bytes(), program.sent_bytes());
  EXPECT_EQ(program.locations()->Get(explain.loc())->str(), "step.mlir:3:8");
}

}  // namespace
}  // namespace mlir::sgd
