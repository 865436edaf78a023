// Compares a report's collectives with the ring formula worked out by hand; its JSON loses nothing.
#include "compiler/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/driver.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMesh = "sgd.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n";

Compilation compileText(const std::string& function) {
  CompileOptions options;
  options.cpu = "x86-64-v3";
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  FailureOr<Compilation> compilation = compile({{"main", "step.mlir", kMesh + function}}, options, stream);
  EXPECT_TRUE(succeeded(compilation)) << errors;
  return succeeded(compilation) ? std::move(*compilation) : Compilation();
}

std::string sharded(const std::string& type, const std::string& dims) {
  return type + " {sgd.sharding = #sgd.sharding<@mesh, [" + dims + "]>}";
}

/// The one collective that changes a value's sharding from `from` to `to`.
CollectiveReport reshard(const std::string& type, const std::string& from, const std::string& to) {
  Report report = compileText("func.func @main(%v: " + sharded(type, from) + ") -> (" + sharded(type, to) +
                              ") {\n  return %v : " + type + "\n}\n")
                      .report;
  EXPECT_EQ(report.collectives.size(), 1u) << from << " to " << to;
  return report.collectives.empty() ? CollectiveReport() : report.collectives.front();
}

/// The one that a gradient from rows over x needs, where its own rows are `to`.
CollectiveReport reduce(const std::string& to) {
  const std::string rows = "tensor<64x16xf32>", sum = "tensor<16x16xf32>";
  Report report =
      compileText("func.func @main(%v: " + sharded(rows, "{\"x\"}, {}") + ") -> (" + sharded(sum, to) +
                  ") {\n  %0 = sgd.dot_general %v, %v batching = [] x [] contracting = [0] x [0] : " + rows + ", " +
                  rows + " -> " + sum + "\n  return %0 : " + sum + "\n}\n")
          .report;
  EXPECT_EQ(report.collectives.size(), 1u) << to;
  return report.collectives.empty() ? CollectiveReport() : report.collectives.front();
}

TEST(Report, AllGatherSendsWhatTheOthersHold) {
  CollectiveReport gather = reshard("tensor<64xf32>", "{\"x\"}", "{}");
  EXPECT_EQ(gather.kind, "all_gather");
  EXPECT_EQ(gather.groupSize, 4);
  EXPECT_EQ(gather.operandBytes, 64u);        // 16 elements
  EXPECT_EQ(gather.sentBytes, 256u * 3 / 4);  // (n - 1) / n of the result
  EXPECT_EQ(gather.count, 1);
  EXPECT_FALSE(gather.inLoop);
}

TEST(Report, AllToAllKeepsItsOwnShare) {
  CollectiveReport exchange = reshard("tensor<8x8xf32>", "{\"x\"}, {}", "{}, {\"x\"}");
  EXPECT_EQ(exchange.kind, "all_to_all");
  EXPECT_EQ(exchange.operandBytes, 64u);
  EXPECT_EQ(exchange.sentBytes, 64u * 3 / 4);
}

TEST(Report, PermuteSendsTheWholeShard) {
  CollectiveReport permute = reshard("tensor<64xf32>", "{\"x\", \"y\"}", "{\"y\", \"x\"}");
  EXPECT_EQ(permute.kind, "permute");
  EXPECT_EQ(permute.sentBytes, permute.operandBytes);
  EXPECT_EQ(permute.sentBytes, 32u);
}

TEST(Report, AllReduceSendsTwiceWhatReduceScatterDoes) {
  CollectiveReport whole = reduce("{}, {}"), scattered = reduce("{\"x\"}, {}");
  EXPECT_EQ(whole.kind, "all_reduce");
  EXPECT_EQ(whole.operandBytes, 1024u);
  EXPECT_EQ(whole.sentBytes, 2u * 1024 * 3 / 4);
  EXPECT_EQ(scattered.kind, "reduce_scatter");
  EXPECT_EQ(scattered.sentBytes, 1024u * 3 / 4);
  EXPECT_EQ(whole.location, scattered.location);
  EXPECT_THAT(whole.location, HasSubstr("step.mlir:3"));
}

TEST(Report, SlicesAreFree) {
  Report report = compileText("func.func @main(%v: " + sharded("tensor<64xf32>", "{}") + ") -> (" +
                              sharded("tensor<64xf32>", "{\"x\"}") + ") {\n  return %v : tensor<64xf32>\n}\n")
                      .report;
  EXPECT_TRUE(report.collectives.empty());
  EXPECT_EQ(report.sentBytes, 0u);
}

// Each trip reduces a value that the next one needs whole.
const char* kLoop = R"(
func.func @main(%v: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0, %1 = sgd.while(%w, %v) trips 5 do {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %c = sgd.dot_general %b, %a batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %d = math.tanh %c : tensor<8x8xf32>
    %e = sgd.dot_general %b, %d batching = [] x [] contracting = [0] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    sgd.yield %e, %b : tensor<8x8xf32>, tensor<8x8xf32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %0 : tensor<8x8xf32>
}
)";

TEST(Report, LoopsCountEachTrip) {
  Report report = compileText(kLoop).report;
  uint64_t sent = 0;
  for (const CollectiveReport& collective : report.collectives) {
    EXPECT_TRUE(collective.inLoop) << collective.kind;
    EXPECT_EQ(collective.count, 5) << collective.kind;
    sent += collective.sentBytes;
  }
  EXPECT_FALSE(report.collectives.empty());
  EXPECT_EQ(report.sentBytes, sent);
  EXPECT_EQ(report.sentBytes % 5, 0u);
  EXPECT_FALSE(report.hasUnknownTrips);
}

TEST(Report, JsonThereAndBack) {
  Compilation compilation = compileText(kLoop);
  compilation.report.recomputed.push_back({"all_gather", "step.py:4:2", 3, 6 << 10, 0, 512, 2e-3});
  Report read;
  ASSERT_TRUE(fromJson(compilation.report.toJson(), read));
  EXPECT_EQ(read.toJson(), compilation.report.toJson());
  std::string before, after;
  llvm::raw_string_ostream beforeStream(before), afterStream(after);
  compilation.report.print(beforeStream);
  read.print(afterStream);
  EXPECT_EQ(before, after);
  EXPECT_THAT(before, HasSubstr("all_reduce over 4 ranks, 1.88 KiB sent in 5 runs"));
  EXPECT_THAT(before,
              HasSubstr("recomputed   3 instructions, for the memory limit: 6.00 KiB not kept, 0 flops and 2 ms "
                        "more\n    6.00 KiB by 3 of all_gather at step.py:4:2, 2 ms, 512 B sent again\n"));
}

TEST(Report, JsonOfAnotherShapeIsRefused) {
  Report report = compileText(kLoop).report;
  for (const char* key : {"memory", "sent_bytes", "collectives", "recomputed", "mesh"}) {
    nlohmann::json object = report.toJson();
    object.erase(key);
    Report read;
    EXPECT_FALSE(fromJson(object, read)) << key;
  }
  Report read;
  EXPECT_FALSE(fromJson(nlohmann::json("a report"), read));
}

}  // namespace
}  // namespace mlir::sgd
