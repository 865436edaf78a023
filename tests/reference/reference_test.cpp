// The reference evaluator against values worked out by hand: it is what other tests are judged by.
#include "reference/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mlir/AsmParser/AsmParser.h"
#include "tests/reference/evaluation.h"

namespace mlir::sgd::reference {
namespace {

using Reference = EvaluationTest;

TEST_F(Reference, RoundsToTheElementType) {
  EXPECT_EQ(roundTo(0.1, Float32Type::get(&context)), static_cast<double>(0.1f));
  EXPECT_EQ(roundTo(1 + 0x1p-8, BFloat16Type::get(&context)), 1);  // a tie goes to the even neighbour
  EXPECT_EQ(roundTo(1 + 3 * 0x1p-8, BFloat16Type::get(&context)), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(65520, Float16Type::get(&context)), HUGE_VAL);
  Type e4m3 = Float8E4M3FNType::get(&context), e5m2 = Float8E5M2Type::get(&context);
  EXPECT_EQ(roundTo(464, e4m3), 448);  // the middle between the largest number and NaN's place
  EXPECT_TRUE(std::isnan(roundTo(464.0001, e4m3)));
  EXPECT_TRUE(std::isnan(roundTo(HUGE_VAL, e4m3)));
  EXPECT_EQ(roundTo(0x1p-10, e4m3), 0);
  EXPECT_EQ(roundTo(3 * 0x1p-10, e4m3), 0x1p-8);
  EXPECT_EQ(roundTo(61439, e5m2), 57344);
  EXPECT_EQ(roundTo(61440, e5m2), HUGE_VAL);
  EXPECT_EQ(compute("%a = arith.constant dense<[100, -100]> : tensor<2xi8>\n%r = arith.addi %a, %a : tensor<2xi8>",
                    "tensor<2xi8>")
                .integers,
            (Integers{-56, 56}));
}

TEST_F(Reference, BytesThereAndBack) {
  for (Type element : {Type(Float32Type::get(&context)), Type(BFloat16Type::get(&context)),
                       Type(IntegerType::get(&context, 1)), Type(IntegerType::get(&context, 16))}) {
    Tensor tensor(RankedTensorType::get({3}, element));
    for (int64_t i = 0; i < 3; ++i) tensor.isFloat() ? tensor.setFloat(i, i - 1.5) : tensor.setInteger(i, i - 1);
    std::vector<char> bytes(getByteSize(tensor.type));
    tensor.toBytes(bytes);
    Tensor back = Tensor::fromBytes(tensor.type, bytes);
    EXPECT_EQ(back.floats, tensor.floats);
    EXPECT_EQ(back.integers, tensor.integers);
  }
}

TEST_F(Reference, TotalIntegerOps) {
  auto divide = [&](const std::string& op) {
    return compute(
               "%a = arith.constant dense<[7, -7, -128, 5]> : tensor<4xi8>\n"
               "%b = arith.constant dense<[-2, 2, -1, 0]> : tensor<4xi8>\n%r = sgd." +
                   op + " %a, %b : tensor<4xi8>",
               "tensor<4xi8>")
        .integers;
  };
  EXPECT_EQ(divide("divsi"), (Integers{-3, -3, -128, -1}));
  EXPECT_EQ(divide("remsi"), (Integers{1, -1, 0, 5}));
  EXPECT_EQ(divide("divui"), (Integers{0, 124, 0, -1}));
  EXPECT_EQ(compute("%a = arith.constant dense<[3.9, -3.9, 1.0e9, 0x7FC00000]> : tensor<4xf32>\n"
                    "%r = sgd.fptosi %a : tensor<4xf32> to tensor<4xi8>",
                    "tensor<4xi8>")
                .integers,
            (Integers{3, -3, 127, 0}));
}

TEST_F(Reference, MaximumKeepsNan) {
  Tensor result = compute(
      "%a = arith.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>\n%r = sgd.reduce max %a dimensions = [0] : "
      "tensor<2xf32> -> tensor<f32>",
      "tensor<f32>");
  EXPECT_TRUE(std::isnan(result.floats[0]));
}

TEST_F(Reference, MovesElements) {
  const std::string six = "%a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n";
  EXPECT_EQ(compute(six + "%r = sgd.transpose %a permutation = [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>",
                    "tensor<3x2xi32>")
                .integers,
            (Integers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(compute(six + "%z = arith.constant dense<0> : tensor<i32>\n"
                          "%r = sgd.pad %a, %z low = [-1, 1] high = [0, 0] interior = [0, 1] : tensor<2x3xi32>, "
                          "tensor<i32> -> tensor<1x6xi32>",
                    "tensor<1x6xi32>")
                .integers,
            (Integers{0, 4, 0, 5, 0, 6}));
  EXPECT_EQ(compute(six + "%i = arith.constant dense<9> : tensor<i32>\n%z = arith.constant dense<0> : tensor<i32>\n"
                          "%r = sgd.dynamic_slice %a, %i, %z sizes = [1, 2] : (tensor<2x3xi32>, tensor<i32>, "
                          "tensor<i32>) -> tensor<1x2xi32>",
                    "tensor<1x2xi32>")
                .integers,
            (Integers{4, 5}));
  EXPECT_EQ(compute(six + "%r = sgd.concatenate %a, %a dimension = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> "
                          "tensor<2x6xi32>",
                    "tensor<2x6xi32>")
                .integers,
            (Integers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST_F(Reference, ScatterDropsWhatLiesOutside) {
  const char* body = R"(
    %t = arith.constant dense<[10, 20, 30]> : tensor<3xi32>
    %i = arith.constant dense<[[2], [0], [7], [2]]> : tensor<4x1xi32>
    %u = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %r = sgd.scatter add %t, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
      input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
      index_vector_dim = 1 : i64} : (tensor<3xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<3xi32>)";
  EXPECT_EQ(compute(body, "tensor<3xi32>").integers, (Integers{12, 20, 35}));
}

TEST_F(Reference, GatherClampsStarts) {
  const char* body = R"(
    %t = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %i = arith.constant dense<[1, -4, 9]> : tensor<3xi32>
    %r = sgd.gather %t, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
      operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>,
      index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 2>} : (tensor<3x2xi32>, tensor<3xi32>) -> tensor<3x2xi32>)";
  EXPECT_EQ(compute(body, "tensor<3x2xi32>").integers, (Integers{3, 4, 1, 2, 5, 6}));
}

TEST_F(Reference, ContractsOverLabels) {
  const char* body = R"(
    %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
    %r = fusion.matmul %a [0, 1], %b [0, 2] into [2, 1] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>)";
  EXPECT_EQ(compute(body, "tensor<2x2xf32>").floats, (Floats{26, 38, 30, 44}));  // (a^T b)^T
}

TEST_F(Reference, TilesAreStoredAndAddedUp) {
  // Two rows; of each, the product with itself and then, added, its first element's with the first column.
  const char* body = R"(
    %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %r = fusion.tiled(%a) loops [2] cuts [0, 0] {
    ^bb0(%t: tensor<1x2xf32>):
      %s = fusion.matmul %t [0, 1], %t [0, 1] into [0, 1] : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x2xf32>
      fusion.tile_store %s to 0 at [0, 0] : tensor<1x2xf32>
      %h = sgd.slice %t starts = [0, 0] limits = [1, 1] strides = [1, 1] : tensor<1x2xf32> -> tensor<1x1xf32>
      %p = fusion.matmul %h [0, 1], %h [0, 1] into [0, 1] : tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>
      fusion.tile_store %p to 0 at [0, 1] add : tensor<1x1xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>)";
  EXPECT_EQ(compute(body, "tensor<2x2xf32>").floats, (Floats{1, 5, 9, 25}));
}

/// A module on the mesh x=2, y=2 whose values are made from each rank's number: %id is 0 to 3.
std::string onFourRanks(const std::string& body, const std::string& type) {
  return R"(sgd.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main() -> )" +
         type + R"( {
    %id = spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
    %v = sgd.broadcast_in_dim %id dims = [] : tensor<i32> -> tensor<2xi32>
    %j = sgd.iota dimension = 0 : tensor<2xi32>
    %ten = arith.constant dense<10> : tensor<2xi32>
    %t = arith.muli %v, %ten : tensor<2xi32>
    %w = arith.addi %t, %j : tensor<2xi32>
    )" + body +
         "\nreturn %r : " + type + "}";
}

std::vector<Integers> integersOf(const RankTensors& tensors) {
  std::vector<Integers> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.integers);
  return values;
}

// 10^16, 1, -10^16 and 1: in f64 (10^16 + 1) - 10^16 + 1 = 1, but (10^16 + 1) + (1 - 10^16) = 0.
TEST_F(Reference, SumsAreTakenInATree) {
  const char* body = R"(%values = arith.constant dense<[1.0e16, 1.0, -1.0e16, 1.0]> : tensor<4xf64>
    %s = spmd.shard_slice %values dim = 0 <@mesh, {"x", "y"}> : tensor<4xf64> -> tensor<1xf64>
    %r = spmd.all_reduce add(%s) <@mesh, {"x", "y"}> : (tensor<1xf64>) -> tensor<1xf64>)";
  for (const Tensor& tensor : run(onFourRanks(body, "tensor<1xf64>"), 4)) EXPECT_EQ(tensor.floats, Floats{0});
}

TEST_F(Reference, Collectives) {
  auto onRanks = [&](const std::string& body, const std::string& type) {
    return integersOf(run(onFourRanks(body, type), 4));
  };
  using Ranks = std::vector<Integers>;
  EXPECT_EQ(
      onRanks("%r = spmd.all_reduce add(%w) <@mesh, {\"x\"}> : (tensor<2xi32>) -> tensor<2xi32>", "tensor<2xi32>"),
      (Ranks{{20, 22}, {40, 42}, {20, 22}, {40, 42}}));
  EXPECT_EQ(onRanks("%r = spmd.all_gather(%w) dims = [0] <@mesh, {\"y\"}> : (tensor<2xi32>) -> tensor<4xi32>",
                    "tensor<4xi32>"),
            (Ranks{{0, 1, 10, 11}, {0, 1, 10, 11}, {20, 21, 30, 31}, {20, 21, 30, 31}}));
  EXPECT_EQ(onRanks("%r = spmd.reduce_scatter add(%w) dims = [0] <@mesh, {\"y\"}> : (tensor<2xi32>) -> tensor<1xi32>",
                    "tensor<1xi32>"),
            (Ranks{{10}, {12}, {50}, {52}}));
  EXPECT_EQ(onRanks("%r = spmd.all_to_all %w split = 0 concat = 0 <@mesh, {\"y\"}> : tensor<2xi32> -> tensor<2xi32>",
                    "tensor<2xi32>"),
            (Ranks{{0, 10}, {1, 11}, {20, 30}, {21, 31}}));
  EXPECT_EQ(onRanks("%r = spmd.collective_permute %w from <@mesh, {\"x\", \"y\"}> to <@mesh, {\"y\", \"x\"}> : "
                    "tensor<2xi32>",
                    "tensor<2xi32>"),
            (Ranks{{0, 1}, {20, 21}, {10, 11}, {30, 31}}));
  EXPECT_EQ(onRanks("%r = spmd.broadcast %w <@mesh, {\"x\"}> : tensor<2xi32>", "tensor<2xi32>"),
            (Ranks{{0, 1}, {10, 11}, {0, 1}, {10, 11}}));
  EXPECT_EQ(
      onRanks("%r = spmd.shard_slice %w dim = 0 <@mesh, {\"y\"}> : tensor<2xi32> -> tensor<1xi32>", "tensor<1xi32>"),
      (Ranks{{0}, {11}, {20}, {31}}));
}

TEST_F(Reference, GatheredRanges) {
  auto gather = [&](const std::string& range, const std::string& axes, const std::string& type) {
    return integersOf(run(onFourRanks("%r = spmd.gather_range(%w) ranges = [#sgd.range<" + range + ">] " + axes +
                                          " : (tensor<2xi32>) -> " + type,
                                      type),
                          4));
  };
  using Ranks = std::vector<Integers>;
  // The dimension is 0 1 10 11 20 21 30; rank 3's second element is padding.
  EXPECT_EQ(gather("dim = 0, size = 7, scale = 2, offset = -1", R"(<@mesh, {"x", "y"}> to <@mesh, {"x", "y"}>)",
                   "tensor<4xi32>"),
            (Ranks{{0, 0, 1, 10}, {1, 10, 11, 20}, {11, 20, 21, 30}, {21, 30, 0, 0}}));
  // Backwards over two other tiles; every third element.
  EXPECT_EQ(gather("dim = 0, size = 7, scale = -3, offset = 7, divisor = 2, step = 3",
                   R"(<@mesh, {"x", "y"}> to <@mesh, {"y", "x"}>)", "tensor<2xi32>"),
            (Ranks{{11, 30}, {0, 11}, {10, 21}, {0, 10}}));
  // Tiles over one axis: groups of two, each with its own dimension of 3.
  EXPECT_EQ(gather("dim = 0, size = 3, scale = 1, offset = 0", R"(<@mesh, {"y"}> to <@mesh, {"x"}>)", "tensor<2xi32>"),
            (Ranks{{0, 1}, {0, 1}, {21, 30}, {21, 30}}));
}

TEST_F(Reference, SubAxesAreDigits) {
  const char* text = R"(sgd.mesh @mesh = <["x"=8]>
    func.func @main() -> tensor<i32> {
      %r = spmd.partition_id <@mesh, {"x":(2)2}> : tensor<i32>
      return %r : tensor<i32>
    })";
  EXPECT_EQ(integersOf(run(text, 8)), (std::vector<Integers>{{0}, {0}, {1}, {1}, {0}, {0}, {1}, {1}}));
}

TEST_F(Reference, CutsAndJoinsUnevenShards) {
  auto module = parseSourceString<ModuleOp>("sgd.mesh @mesh = <[\"x\"=3]>\n", &context);
  MeshAttr mesh = getMesh(*module).getMesh();
  auto sharding = cast<ShardingAttr>(parseAttribute("#sgd.sharding<@mesh, [{\"x\"}]>", &context));
  Tensor global(RankedTensorType::get({5}, IntegerType::get(&context, 32)));
  for (int64_t i = 0; i < 5; ++i) global.setInteger(i, i + 1);
  RankTensors shards = cut(global, sharding, mesh);
  EXPECT_EQ(integersOf(shards), (std::vector<Integers>{{1, 2}, {3, 4}, {5, 0}}));
  EXPECT_EQ(join(shards, global.type, sharding, mesh).integers, global.integers);
}

TEST_F(Reference, UnknownOpsFail) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) { message += diagnostic.str(); });
  auto module = parseSourceString<ModuleOp>(
      "func.func @main() -> tensor<f32> {\n%a = arith.constant dense<1.0> : tensor<f32>\n"
      "%r = math.fma %a, %a, %a : tensor<f32>\nreturn %r : tensor<f32>}",
      &context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, 1)));
  EXPECT_EQ(
      message,
      "'math.fma' op has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; "
      "add it to reference/");
}

}  // namespace
}  // namespace mlir::sgd::reference
