// The field `expect` on a small step: what holds compiles, what does not is refused with its cause.
#include "compiler/driver/driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Over 2 x 2 ranks: `h` is summed up over "model" in scope `layers/0/mlp` (512 bytes of 8 x 16 elements), the gradients
// of `w` and `v` over "data" behind it (v: 16 x 16 elements, w: 16 x 8).
constexpr const char* kStep = R"(
sgd.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%w: tensor<16x16xf32> {sgd.alias_output = 0 : i64, sgd.name = "params['w']", sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
                %v: tensor<16x16xf32> {sgd.alias_output = 1 : i64, sgd.name = "params['v']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %x: tensor<16x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}]>})
    -> (tensor<16x16xf32> {sgd.name = "params['w']", sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
        tensor<16x16xf32> {sgd.name = "params['v']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32> loc("jit(step)/layers/0/mlp/dot_general"("step.py":9:2))
  %y = sgd.dot_general %h, %v batching = [] x [] contracting = [1] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32> loc("jit(step)/layers/1/mlp/dot_general"("step.py":10:2))
  %dv = sgd.dot_general %h, %y batching = [] x [] contracting = [0] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32> loc("jit(step)/transpose(jvp(layers))/1/mlp/dot_general"("step.py":10:2))
  %dw = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32> loc("jit(step)/transpose(jvp(layers))/0/mlp/dot_general"("step.py":9:2))
  %nw = arith.subf %w, %dw : tensor<16x16xf32>
  %nv = arith.subf %v, %dv : tensor<16x16xf32>
  return %nw, %nv : tensor<16x16xf32>, tensor<16x16xf32>
}
)";

struct Compiled {
  bool isDone = false;
  std::string messages;
  Report report;
};

Compiled compileExpecting(const std::string& expect, const std::string& fields = "") {
  CompileOptions options;
  options.cpu = "x86-64-v3";
  options.shardUpdates = false;
  options.recipeFile = "r.json";
  options.recipe = "{" + fields + "\"expect\": " + expect + "}";
  Compiled compiled;
  llvm::raw_string_ostream errors(compiled.messages);
  FailureOr<Compilation> result = compile({{"main", "step.mlir", kStep}}, options, errors);
  compiled.isDone = succeeded(result);
  if (compiled.isDone) compiled.report = std::move(result->report);
  return compiled;
}

std::string refusalOf(const std::string& expect, const std::string& fields = "") {
  Compiled compiled = compileExpecting(expect, fields);
  size_t error = compiled.messages.find("r.json: error: ");
  if (compiled.isDone || error == std::string::npos) return compiled.isDone ? "accepted" : compiled.messages;
  return compiled.messages.substr(error);
}

TEST(Expectations, HoldAtTheReportsFigures) {
  Report report = compileExpecting("[]").report;
  ASSERT_GT(report.sentBytes, 0u);
  auto sent = [&](uint64_t bytes) { return "[{\"sent_bytes\": " + std::to_string(bytes) + "}]"; };
  auto peak = [&](uint64_t bytes) { return "[{\"peak\": " + std::to_string(bytes) + "}]"; };
  EXPECT_EQ(refusalOf(sent(report.sentBytes)), "accepted");
  EXPECT_THAT(refusalOf(sent(report.sentBytes - 1)),
              AllOf(HasSubstr("r.json: error: field 'expect[0]': a rank sends " + std::to_string(report.sentBytes) +
                              " bytes a step; expected at most " + std::to_string(report.sentBytes - 1)),
                    HasSubstr("at step.py:10:2")));
  EXPECT_EQ(refusalOf(peak(report.memory.peak)), "accepted");
  EXPECT_THAT(refusalOf(peak(report.memory.peak - 1)),
              AllOf(HasSubstr("a rank needs " + std::to_string(report.memory.peak) + " bytes of memory"),
                    HasSubstr("the largest buffers: "), HasSubstr("argument params['v']")));
}

TEST(Expectations, AllCollectivesTogetherSendWhatTheReportSays) {
  Report report = compileExpecting("[]").report;
  std::string expect = "[{\"collective\": \"any\", \"bytes\": ";
  EXPECT_EQ(refusalOf(expect + std::to_string(report.sentBytes) + "}]"), "accepted");
  EXPECT_THAT(refusalOf(expect + std::to_string(report.sentBytes - 1) + "}]"), HasSubstr("communication sends"));
}

TEST(Expectations, CountByAxisAndScope) {
  // The sum over "model": 2 * (2 - 1) / 2 of 512 bytes; those over "data": of 1024 and 512 bytes.
  EXPECT_EQ(refusalOf(R"([{"collective": "all_reduce", "axis": "model", "bytes": 512}])"), "accepted");
  EXPECT_THAT(refusalOf(R"([{"collective": "all_reduce", "axis": "model", "bytes": 511}])"),
              AllOf(HasSubstr("all_reduce over \"model\" sends 512 bytes a step; expected at most 511"),
                    HasSubstr("512 bytes by all_reduce of activations of layers/0/mlp, tensor<16x16xf32> from "
                              "sgd.dot_general at step.py:9:2")));
  EXPECT_EQ(refusalOf(R"([{"collective": "all_reduce", "axis": "data", "bytes": 1536}])"), "accepted");
  EXPECT_THAT(refusalOf(R"([{"collective": "all_reduce", "axis": "data", "scope": "layers.1", "bytes": 0}])"),
              AllOf(HasSubstr("in scope 'layers.1' sends 1024 bytes"), HasSubstr("step.py:10:2"),
                    Not(HasSubstr("step.py:9:2"))))
      << "the backward pass counts, and a bucket is split by its members";
  EXPECT_THAT(refusalOf(R"([{"collective": "any", "scope": "layers/0/mlp", "bytes": 0}])"),
              HasSubstr("communication in scope 'layers/0/mlp' sends 1024 bytes a step"));
  EXPECT_EQ(refusalOf(R"([{"collective": "all_gather", "bytes": 0}])"), "accepted");
}

TEST(Expectations, ReplicatedTensors) {
  EXPECT_EQ(refusalOf(R"([{"replicated": "params.w", "bytes": 0}])"), "accepted");
  EXPECT_THAT(refusalOf(R"([{"replicated": "params.*", "bytes": 0}])"),
              AllOf(HasSubstr("tensors 'params.*' that are replicated take 1024 bytes of a rank; expected at most 0"),
                    HasSubstr("1024 bytes by params['v']")));
  EXPECT_THAT(refusalOf(R"([{"replicated": "params.*", "axis": "data", "bytes": 0}])"),
              HasSubstr("replicated over \"data\" take 1536 bytes"));
  EXPECT_EQ(refusalOf(R"([{"replicated": "x", "axis": "data", "bytes": 0}])"), "accepted");
}

TEST(Expectations, OnesThatAreAboutNothingAreRefused) {
  EXPECT_THAT(refusalOf(R"([{"collective": "any", "axis": "modle", "bytes": 0}])"),
              HasSubstr("field 'expect[0].axis' is \"modle\", which the mesh does not have; did you mean \"model\"?"));
  EXPECT_THAT(
      refusalOf(R"([{"collective": "any", "scope": "layers.2", "bytes": 0}])"),
      HasSubstr(
          "field 'expect[0].scope': 'layers.2' matches no scope of the program; there are layers/0/mlp, layers/1/mlp"));
  EXPECT_THAT(refusalOf(R"([{"replicated": "param.w", "bytes": 0}])"),
              HasSubstr("'param.w' matches no argument and no result of program 'main'; the nearest name is params.w"));
  EXPECT_THAT(refusalOf(R"([{"replicated": "[", "bytes": 0}])"), HasSubstr("field 'expect[0].replicated'"));
}

TEST(Expectations, OfAPipelineTheStageWithMostCounts) {
  const std::string stages =
      R"("annotations": "ignore", "mesh": {"data": 2}, "batch": "data", "stages": 2, "sequential": {"micro": 2}, )";
  Report report = compileExpecting("[]", stages).report;
  ASSERT_EQ(report.stages.size(), 2u);
  EXPECT_EQ(refusalOf("[{\"sent_bytes\": " + std::to_string(report.sentBytes) + "}]", stages), "accepted");
  EXPECT_THAT(refusalOf("[{\"sent_bytes\": " + std::to_string(report.sentBytes - 1) + "}]", stages),
              HasSubstr("a rank sends " + std::to_string(report.sentBytes)));
  EXPECT_THAT(refusalOf(R"([{"collective": "send", "axis": "stage", "bytes": 0}])", stages),
              AllOf(HasSubstr("send over \"stage\" sends"), HasSubstr("to stage 1")));
  EXPECT_THAT(refusalOf("[{\"peak\": " + std::to_string(report.memory.peak - 1) + "}]", stages),
              HasSubstr("the largest buffers"));
}

// Nothing is checked before there is a plan.
TEST(Expectations, LevelsAbovePlansArePrinted) {
  CompileOptions options;
  options.emit = EmitLevel::Spmd;
  options.writeArtifact = false;
  options.recipeFile = "r.json";
  options.recipe = R"({"expect": [{"sent_bytes": 0}]})";
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  FailureOr<Compilation> result = compile({{"main", "step.mlir", kStep}}, options, errors);
  ASSERT_TRUE(succeeded(result)) << messages;
  EXPECT_THAT(result->emitted, HasSubstr("spmd.all_reduce"));
}

}  // namespace
}  // namespace mlir::sgd
