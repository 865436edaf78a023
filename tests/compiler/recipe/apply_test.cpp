// Applies recipes to programs: annotations of the graph level, and messages.
#include "compiler/driver/driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// w' = w - m', m' = m / 2 + x' x w; the loss reads w alone.
constexpr const char* kStep = R"(
func.func @main(%w: tensor<64x32xf32> {sgd.name = "state.w"}, %m: tensor<64x32xf32> {sgd.name = "state.m['w']"},
                %b: tensor<6xf32> {sgd.name = "state.b"}, %x: tensor<16x64xf32> {sgd.name = "x"}, %key: tensor<2xi32> {sgd.name = "key", sgd.unsigned})
    -> (tensor<f32> {sgd.name = "result[0]"}, tensor<64x32xf32> {sgd.name = "result[1].w"}, tensor<64x32xf32> {sgd.name = "result[1].m['w']"},
        tensor<6xf32> {sgd.name = "result[1].b"}) {
  %half = arith.constant dense<0.5> : tensor<64x32xf32>
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<16x64xf32>, tensor<16x32xf32> -> tensor<64x32xf32>
  %squares = arith.mulf %y, %y : tensor<16x32xf32>
  %s = sgd.reduce add %squares dimensions = [0, 1] : tensor<16x32xf32> -> tensor<f32>
  %t = sgd.reduce add %b dimensions = [0] : tensor<6xf32> -> tensor<f32>
  %loss = arith.addf %s, %t : tensor<f32>
  %0 = arith.mulf %m, %half : tensor<64x32xf32>
  %m2 = arith.addf %0, %g : tensor<64x32xf32>
  %w2 = arith.subf %w, %m2 : tensor<64x32xf32>
  return %loss, %w2, %m2, %b : tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<6xf32>
}
)";

struct Outcome {
  std::string graph, messages;
};

Outcome applyTo(const char* recipe, const std::string& program = kStep) {
  CompileOptions options;
  options.recipeFile = "r.json";
  options.recipe = recipe;
  options.emit = EmitLevel::Graph;
  options.writeArtifact = false;
  Outcome outcome;
  llvm::raw_string_ostream errors(outcome.messages);
  FailureOr<Compilation> compilation = compile({{"main", "m.mlir", program}}, options, errors);
  if (succeeded(compilation)) outcome.graph = compilation->emitted;
  return outcome;
}

/// The sharding of the argument `name` as text; empty where it has none.
std::string shardingOf(const Outcome& outcome, llvm::StringRef name) {
  llvm::StringRef rest = llvm::StringRef(outcome.graph).split(("sgd.name = \"" + name + "\"").str()).second;
  rest = rest.take_front(rest.find("%"));
  return rest.split("#sgd.sharding<@mesh, ").second.split(">}").first.str();
}

TEST(Recipe, BatchShardsRowsOfInputsAlone) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data"})");
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(outcome.graph, HasSubstr("sgd.mesh @mesh = <[\"data\"=4]>"));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
  EXPECT_EQ(shardingOf(outcome, "state.w"), "");
  EXPECT_EQ(shardingOf(outcome, "key"), "") << "two words of a random key are no rows";
}

// Of x + 1 nobody knows whether x is data. Names, as of kStep, do say what is state.
TEST(Recipe, BatchShardsRowsOfStateWhereNothingButItsOpsSaysThatItIs) {
  const std::string program = R"(
func.func @main(%x: tensor<16x4xf32> {sgd.name = "x"}) -> (tensor<16x4xf32> {sgd.name = "result"}) {
  %one = arith.constant dense<1.0> : tensor<16x4xf32>
  %0 = arith.addf %x, %one : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
})";
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data"})", program);
  EXPECT_THAT(outcome.messages,
              HasSubstr("r.json: remark: field 'batch': the rows of x are sharded, since no program has another input "
                        "with rows; a step of several would take a result for its next value"));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
  const std::string named = R"(
func.func @main(%w: tensor<16x4xf32> {sgd.name = "state.w"}) -> (tensor<16x4xf32> {sgd.name = "result[0].w"}) {
  %one = arith.constant dense<1.0> : tensor<16x4xf32>
  %0 = arith.addf %w, %one : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
})";
  EXPECT_THAT(applyTo(R"({"mesh": {"data": 4}, "batch": "data"})", named).messages,
              HasSubstr("no program has an input with rows that no rule shards, besides state; expected one, or no "
                        "'batch'; shard state by rules, such as {\"tensor\": \"params\", \"sharding\": "
                        "[\"data\"]}"));
}

// Shardings of the text, of arguments, results and values inside, and its mesh.
TEST(Recipe, IgnoredAnnotationsAreLeftOutFirst) {
  const std::string program = R"(
sgd.mesh @mesh = <["old"=8]>
func.func @main(%w: tensor<8x4xf32> {sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{"old"}, {}]>}, %x: tensor<8x4xf32> {sgd.name = "x"})
    -> (tensor<8x4xf32> {sgd.name = "result[0]['w']", sgd.sharding = #sgd.sharding<@mesh, [{"old"}, {}]>}) {
  %0 = arith.addf %w, %x : tensor<8x4xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}, {"old"}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
})";
  Outcome kept = applyTo(R"({"annotations": "keep"})", program);
  EXPECT_THAT(kept.graph, AllOf(HasSubstr("\"old\""), HasSubstr("sgd.sharding_constraint"))) << kept.messages;
  Outcome outcome = applyTo(R"({"annotations": "ignore", "mesh": {"data": 4}, "batch": "data"})", program);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(outcome.graph, AllOf(Not(HasSubstr("\"old\"")), Not(HasSubstr("sgd.sharding_constraint"))));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
  EXPECT_THAT(applyTo(R"({"annotations": "drop"})", program).messages,
              HasSubstr(R"(field 'annotations' is "drop"; expected "keep" or "ignore")"));
}

// Stages and parts of the batch are of the mesh that is left out.
TEST(Recipe, IgnoredAnnotationsHaveNoStages) {
  Outcome outcome = applyTo(R"({"annotations": "ignore"})", R"(
sgd.mesh @mesh = <["old"=8]> {sgd.stages = #sgd<axis"stage"=2>, sgd.sequential = #sgd<axis"micro"=2>}
func.func @main(%w: tensor<8xf32> {sgd.name = "w", sgd.stage = 1}, %x: tensor<8xf32> {sgd.name = "x", sgd.sequential_dim = 0}) -> tensor<8xf32> {
  %0 = arith.addf %w, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
})");
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(outcome.graph, AllOf(Not(HasSubstr("sgd.stage")), Not(HasSubstr("sgd.sequential"))));
}

TEST(Recipe, RulesCallArgumentsWithoutNamesByPosition) {
  Outcome outcome = applyTo(R"({"mesh": {"model": 2}, "rules": [{"tensor": "arg1", "sharding": ["model"]}]})",
                            "func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {\n"
                            "  %0 = arith.addf %a, %b : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}");
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(outcome.graph,
              testing::ContainsRegex("%arg1: tensor<8xf32> [^%]*sgd.sharding = #sgd.sharding<@mesh, ..\"model\""));
}

// Rows of all inputs by rules: the batch is theirs.
TEST(Recipe, RulesMayShardTheWholeBatch) {
  Outcome outcome = applyTo(
      R"({"mesh": {"data": 4, "model": 2}, "batch": "data", "zero": 1, "rules": [{"tensor": "x", "sharding": ["data", "model"]}]})");
  EXPECT_THAT(outcome.messages, Not(HasSubstr("error")));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {\"model\"}]");
  EXPECT_THAT(applyTo(R"({"mesh": {"data": 4}, "batch": "data", "rules": [{"tensor": "x", "sharding": [null, null]}]})")
                  .messages,
              HasSubstr("no program has an input with rows that no rule shards"));
}

TEST(Recipe, ZeroOneShardsOptimizerStateAndKeepsParametersWhole) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 1})");
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{\"data\"}p1, {?}]") << "activations are sharded before";
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{?}, {?}], replicated={\"data\"}");
}

TEST(Recipe, ZeroThreeShardsParametersAndSaysWhatStaysWhole) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 3})");
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"data\"}p1, {?}]");
  EXPECT_EQ(shardingOf(outcome, "state.b"), "[{?}], replicated={\"data\"}");
  EXPECT_EQ(outcome.messages,
            "r.json: remark: zero 3: replicated: state.b (24 bytes): a shard would be smaller than the 64 "
            "bytes that a "
            "buffer takes at least\n");
}

/// A step that reads the parameter `w` of `type` in `reads` only, as the value %read, a scalar.
std::string stepThatReads(const std::string& type, const std::string& reads) {
  return "func.func @main(%w: " + type + " {sgd.name = \"state.w\"}, %x: tensor<16x64xf32> {sgd.name = \"x\"}) -> " +
         "(tensor<f32> {sgd.name = \"result[0]\"}, " + type + " {sgd.name = \"result[1].w\"}) {\n" + reads +
         "  %w2 = arith.addf %w, %w : " + type + "\n  return %read, %w2 : tensor<f32>, " + type + "\n}";
}

// A parameter that every step of a sequence multiplies by.
TEST(Recipe, ZeroThreeGathersBeforeTheLoopThatReadsAWholeParameter) {
  std::string program = stepThatReads("tensor<64x64xf32>", R"(
  %0:2 = sgd.while (%x, %w) trips 4 do {
  ^bb0(%a: tensor<16x64xf32>, %b: tensor<64x64xf32>):
    %2 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
    sgd.yield %2, %b : tensor<16x64xf32>, tensor<64x64xf32>
  } : (tensor<16x64xf32>, tensor<64x64xf32>) -> (tensor<16x64xf32>, tensor<64x64xf32>)
  %read = sgd.reduce add %0#0 dimensions = [0, 1] : tensor<16x64xf32> -> tensor<f32>
)");
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 3})", program);
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"data\"}p1, {?}]") << "rows are not read one by one";
  EXPECT_THAT(outcome.graph, HasSubstr("sgd.sharding_constraint %arg0 <@mesh, [{?}, {?}], replicated={\"data\"}>"));
}

// Rows of stacked parameters are layers: in a loop, and unrolled.
TEST(Recipe, ZeroThreeDoesNotShardTheDimensionOfLayers) {
  constexpr const char* kSum = R"(
  %read = sgd.reduce add %row dimensions = [0, 1] : tensor<1x64xf32> -> tensor<f32>
)";
  std::string unrolled = stepThatReads("tensor<8x64xf32>", std::string(R"(
  %row = sgd.slice %w starts = [3, 0] limits = [4, 64] strides = [1, 1] : tensor<8x64xf32> -> tensor<1x64xf32>)") +
                                                               kSum);
  std::string loop = stepThatReads("tensor<8x64xf32>", std::string(R"(
  %i0 = arith.constant dense<0> : tensor<i32>
  %first = arith.constant dense<0.0> : tensor<1x64xf32>
  %0:3 = sgd.while (%i0, %first, %w) trips 8 do {
  ^bb0(%i: tensor<i32>, %sum: tensor<1x64xf32>, %b: tensor<8x64xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %c1 : tensor<i32>
    %2 = sgd.dynamic_slice %b, %i, %c0 sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %3 = arith.addf %sum, %2 : tensor<1x64xf32>
    sgd.yield %next, %3, %b : tensor<i32>, tensor<1x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<1x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<1x64xf32>, tensor<8x64xf32>)
  %row = arith.addf %0#1, %0#1 : tensor<1x64xf32>)") + kSum);
  for (const std::string& program : {unrolled, loop}) {
    Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 3})", program);
    EXPECT_EQ(shardingOf(outcome, "state.w"), "[{?}, {\"data\"}p1]") << outcome.messages;
    EXPECT_THAT(outcome.graph, Not(HasSubstr("sgd.sharding_constraint")));
  }
}

TEST(Recipe, ZeroComesOnTopOfARuleOfTheParameter) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 2, "model": 2}, "batch": "data", "zero": 3,
                              "rules": [{"tensor": "state.w", "sharding": ["model", null]}]})");
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"model\"}, {\"data\"}p1]");
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{\"model\"}, {\"data\"}p1]") << "the momentum follows its parameter";
  EXPECT_THAT(outcome.messages, Not(HasSubstr("where the program says")));
}

TEST(Recipe, ZeroComesOnTopOfAnnotations) {
  std::string program = "sgd.mesh @mesh = <[\"data\"=2, \"model\"=2]>\n" + std::string(kStep);
  for (const char* name : {"{sgd.name = \"state.w\"", "{sgd.name = \"state.m['w']\""})
    program.replace(program.find(name), llvm::StringRef(name).size(),
                    std::string(name) + ", sgd.sharding = #sgd.sharding<@mesh, [{\"model\"}, {}]>");
  Outcome outcome = applyTo(R"({"batch": "data", "zero": 1})", program);
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"model\"}, {}], replicated={\"data\"}");
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{\"model\"}, {\"data\"}p1]");
  EXPECT_THAT(outcome.messages, Not(HasSubstr("where the program says")));
}

TEST(Recipe, TheFirstRuleThatMatchesDecides) {
  Outcome outcome = applyTo(
      R"({"mesh": {"a": 2}, "rules": [{"tensor": "state.w", "sharding": ["a", null]}, {"tensor": "*w", "sharding": [null, "a"]}]})");
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"a\"}, {}]");
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{}, {\"a\"}]");
}

TEST(Recipe, WinsOverAnnotationsAndSaysSo) {
  std::string program = kStep;
  program.replace(program.find("{sgd.name = \"x\"}"), 16,
                  "{sgd.name = \"x\", sgd.sharding = #sgd.sharding<@mesh, [{}, {\"data\"}]>}");
  program = "sgd.mesh @mesh = <[\"data\"=8]>\n" + program;
  Outcome outcome = applyTo(R"({"mesh": {"data": 2}, "batch": "data"})", program);
  EXPECT_THAT(outcome.graph, HasSubstr("sgd.mesh @mesh = <[\"data\"=2]>"));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
  EXPECT_THAT(outcome.messages, AllOf(HasSubstr("r.json: remark: x is sharded as "),
                                      HasSubstr("by the recipe, where the program says ")));
}

TEST(Recipe, UsesTheMeshOfTheProgram) {
  Outcome outcome = applyTo(R"({"batch": "data"})", "sgd.mesh @mesh = <[\"data\"=8]>\n" + std::string(kStep));
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
}

std::string errorOf(const char* recipe, const std::string& program = kStep) {
  Outcome outcome = applyTo(recipe, program);
  EXPECT_EQ(outcome.graph, "");
  return outcome.messages;
}

TEST(Recipe, WhatDoesNotFitTheProgramIsRefused) {
  EXPECT_THAT(errorOf(R"({"batch": "data"})"),
              HasSubstr("neither it nor the model has a mesh; give its axes by --mesh data=N"));
  EXPECT_EQ(errorOf(R"({"mesh": {"data": 2}, "batch": "dta"})"),
            "r.json: error: field 'batch' names the axis 'dta', which the mesh does not have; did you mean 'data'?\n");
  EXPECT_EQ(errorOf(R"({"mesh": {"a": 2}, "rules": [{"tensor": "state.ww", "sharding": []}]})"),
            "r.json: error: field 'rules[0].tensor': 'state.ww' matches no tensor of the program; the nearest name is "
            "state.w\n");
  EXPECT_THAT(errorOf(R"({"mesh": {"a": 2}, "rules": [{"tensor": "*w", "sharding": ["a"]}]})"),
              HasSubstr("has 1 dimensions, but state.w, which '*w' matches, is 'tensor<64x32xf32>'"));
  EXPECT_THAT(errorOf(R"({"mesh": {"a": 2}, "rules": [{"tensor": "*w", "sharding": ["a", "a"]}]})"),
              HasSubstr("has the axis 'a' twice"));
  EXPECT_THAT(
      errorOf(
          R"({"mesh": {"a": 2}, "rules": [{"tensor": "*w", "sharding": ["a", null]}, {"tensor": "state.w", "sharding": [null, null]}]})"),
      HasSubstr("field 'rules[1].tensor': rules before it decide every tensor that 'state.w' matches"));
  EXPECT_THAT(errorOf(R"({"mesh": {"a": 2}, "rules": [{"scope": "mlp", "sharding": []}]})"),
              HasSubstr("'mlp' matches no scope of the program; its text names no scopes"));
}

TEST(Recipe, InputsOfOneBatchHaveEquallyManyRows) {
  const std::string program = R"(
func.func @main(%x: tensor<16x4xf32> {sgd.name = "x"}, %m: tensor<4x4xf32> {sgd.name = "mask"}) -> tensor<16x4xf32> {
  %0 = sgd.dot_general %x, %m batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x4xf32> -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
)";
  EXPECT_THAT(errorOf(R"({"mesh": {"data": 2}, "batch": "data"})", program),
              AllOf(HasSubstr("field 'batch': x has 16 rows and mask has 4; expected inputs of one batch"),
                    HasSubstr("{\"tensor\": \"edges\", \"batch\": 0}")));
  Outcome outcome = applyTo(
      R"({"mesh": {"data": 2}, "batch": "data", "rules": [{"tensor": "mask", "sharding": [null, null]}]})", program);
  EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
}

// Rules name the dimension that holds an input's rows, of which each has its own number: no mesh is needed for that.
TEST(Recipe, RulesNameTheRowsOfInputs) {
  const std::string program = R"(
func.func @main(%x: tensor<16x4xf32> {sgd.name = "nodes"}, %e: tensor<2x48xi32> {sgd.name = "edges"}, %m: tensor<4x4xf32> {sgd.name = "mask"})
    -> tensor<16x4xf32> {
  %0 = sgd.dot_general %x, %m batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x4xf32> -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
)";
  const std::string rules = R"("rules": [{"tensor": "edges", "batch": 1}, {"tensor": "mask", "batch": null}])";
  Outcome outcome = applyTo((R"({"mesh": {"data": 4}, "batch": "data", )" + rules + "}").c_str(), program);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_EQ(shardingOf(outcome, "nodes"), "[{\"data\"}, {?}]");
  EXPECT_EQ(shardingOf(outcome, "edges"), "[{?}, {\"data\"}]");
  EXPECT_EQ(shardingOf(outcome, "mask"), "");
  outcome = applyTo((R"({"sequential": {"micro": 2}, )" + rules + "}").c_str(), program);
  EXPECT_THAT(outcome.graph,
              AllOf(HasSubstr("sgd.name = \"nodes\", sgd.role = #sgd.role<input>, sgd.sequential_dim = 0"),
                    HasSubstr("sgd.name = \"edges\", sgd.role = #sgd.role<input>, sgd.sequential_dim = 1")));
  EXPECT_THAT(
      errorOf(R"({"mesh": {"data": 2}, "batch": "data", "rules": [{"tensor": "mask", "batch": 2}]})", program),
      HasSubstr("field 'rules[0].batch' is 2, but mask, which 'mask' matches, is 'tensor<4x4xf32>'; name one of "
                "its dimensions"));
}

TEST(Recipe, ReplicatedTensorsStayWholeUnderZero) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 3, "replicate": ["state.w"]})");
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{}, {}]");
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{\"data\"}p1, {?}]");
  EXPECT_THAT(
      errorOf(R"({"mesh": {"data": 4}, "replicate": ["state.v"]})"),
      HasSubstr("field 'replicate[0]': 'state.v' matches no tensor of the program; the nearest name is state.w"));
  EXPECT_EQ(applyTo(R"({"replicate": ["*"]})").messages, "") << "without a mesh there is nothing to replicate over";
}

// A loop over the blocks of x.reshape(4, 4, ..), and one that slices them at 4 * i: rows of a block are sharded.
TEST(Recipe, LoopsOverBlocksOfRowsShardTheRowsOfABlock) {
  auto getProgram = [](const std::string& blocks, const std::string& type, const std::string& slice) {
    return R"(
func.func @main(%x: tensor<16x8xf32> {sgd.name = "x"}) -> tensor<8xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>)" +
           blocks + "%loop:3 = sgd.while(%rows, %zero, %none) trips 4 do {\n^bb0(%r: " + type +
           R"(, %i: tensor<i32>, %sum: tensor<8xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %c4 = arith.constant dense<4> : tensor<i32>)" +
           slice + R"(
    %s = sgd.reduce add %block dimensions = [0] : tensor<4x8xf32> -> tensor<8xf32>
    %t = arith.addf %sum, %s : tensor<8xf32>
    %j = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %r, %j, %t : )" +
           type + ", tensor<i32>, tensor<8xf32>\n} : (" + type + ", tensor<i32>, tensor<8xf32>) -> (" + type +
           ", tensor<i32>, tensor<8xf32>)\nreturn %loop#2 : tensor<8xf32>\n}\n";
  };
  const std::string scan =
      getProgram("\n%rows = sgd.reshape %x : tensor<16x8xf32> -> tensor<4x4x8xf32>\n", "tensor<4x4x8xf32>", R"(
    %b = sgd.dynamic_slice %r, %i, %c0, %c0 sizes = [1, 4, 8] : (tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %block = sgd.reshape %b : tensor<1x4x8xf32> -> tensor<4x8xf32>)");
  const std::string slices =
      getProgram("\n%rows = sgd.reshape %x : tensor<16x8xf32> -> tensor<16x8xf32>\n", "tensor<16x8xf32>", R"(
    %start = arith.muli %i, %c4 : tensor<i32>
    %block = sgd.dynamic_slice %r, %start, %c0 sizes = [4, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>)");
  for (const std::string& program : {scan, slices}) {
    Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data"})", program);
    EXPECT_EQ(shardingOf(outcome, "x"), "[{\"data\"}, {?}]");
    EXPECT_THAT(outcome.graph, AllOf(HasSubstr("<@mesh, [{}, {\"data\"}, {?}]>"), HasSubstr("sizes = [1, 4, 8]")));
  }
  // Blocks that begin elsewhere stay slices; their rows are sharded in the loop.
  std::string shifted = slices;
  shifted.replace(shifted.find("dense<4>"), 8, "dense<3>");
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data"})", shifted);
  EXPECT_THAT(outcome.graph,
              AllOf(HasSubstr("<@mesh, [{\"data\"}, {?}]> : tensor<4x8xf32>"), HasSubstr("sizes = [4, 8]")));
}

// JAX sorts metrics by name: a learning rate and a norm come before the loss, and decide nothing.
TEST(Recipe, TheLossIsNoOtherMetric) {
  std::string program = kStep;
  auto replace = [&](const std::string& from, const std::string& to) {
    program.replace(program.find(from), from.size(), to);
  };
  replace("(tensor<f32> {sgd.name = \"result[0]\"},",
          "(tensor<f32> {sgd.name = \"result[0]['a_rate']\"}, tensor<f32> {sgd.name = \"result[0]['grad_norm']\"}, "
          "tensor<f32> {sgd.name = \"result[0]['loss']\"},");
  replace("return %loss,",
          "%rate = arith.constant dense<0.5> : tensor<f32>\n"
          "  %norm = sgd.reduce add %m2 dimensions = [0, 1] : tensor<64x32xf32> -> tensor<f32>\n  return %rate, %norm, "
          "%loss,");
  replace(": tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<6xf32>\n}",
          ": tensor<f32>, tensor<f32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<6xf32>\n}");
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 1})", program);
  EXPECT_EQ(shardingOf(outcome, "state.m['w']"), "[{\"data\"}p1, {?}]") << outcome.messages;
  EXPECT_THAT(shardingOf(outcome, "state.w"), HasSubstr("[{?}, {?}]")) << "a parameter, whatever the norm depends on";
  // Without a name: the learning rate depends on no parameter.
  replace("['loss']", "[2]");
  replace("%norm, %loss", "%loss, %norm");
  outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 1})", program);
  EXPECT_THAT(shardingOf(outcome, "state.w"), HasSubstr("[{?}, {?}]"));
}

// kStep with two scalars, of which names and dataflow choose the first.
std::string getTwoScalars() {
  std::string program = kStep;
  auto replace = [&](const std::string& from, const std::string& to) {
    program.replace(program.find(from), from.size(), to);
  };
  replace("(tensor<f32> {sgd.name = \"result[0]\"},",
          "(tensor<f32> {sgd.name = \"result[0]['total']\"}, tensor<f32> {sgd.name = \"result[0]['penalty']\"},");
  replace("return %loss,", "return %loss, %t,");
  replace(": tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<6xf32>\n}",
          ": tensor<f32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<6xf32>\n}");
  return program;
}

TEST(Loss, IsMarkedByDefault) {
  Outcome outcome = applyTo("{}", getTwoScalars());
  EXPECT_THAT(outcome.graph, HasSubstr("{sgd.name = \"result[0]['total']\", sgd.role = #sgd.role<loss>"))
      << outcome.messages;
}

TEST(Loss, IsTheResultThatTheRecipeNames) {
  for (const char* name : {"result[0]['penalty']", "result[0].penalty", "result.0.penalty"}) {
    Outcome outcome = applyTo((R"({"loss": ")" + std::string(name) + "\"}").c_str(), getTwoScalars());
    EXPECT_THAT(outcome.graph, AllOf(HasSubstr("{sgd.name = \"result[0]['penalty']\", sgd.role = #sgd.role<loss>"),
                                     Not(HasSubstr("{sgd.name = \"result[0]['total']\", sgd.role = #sgd.role<loss>"))))
        << name << ": " << outcome.messages;
  }
}

TEST(Loss, DecidesWhatParametersAre) {
  Outcome outcome = applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 1})", getTwoScalars());
  EXPECT_THAT(shardingOf(outcome, "state.w"), HasSubstr("[{?}, {?}]")) << outcome.messages;
  outcome =
      applyTo(R"({"mesh": {"data": 4}, "batch": "data", "zero": 1, "loss": "result[0].penalty"})", getTwoScalars());
  EXPECT_EQ(shardingOf(outcome, "state.w"), "[{\"data\"}p1, {?}]") << "the penalty does not depend on it";
}

TEST(Loss, ErrorsNameTheResult) {
  auto messagesOf = [](const char* recipe) { return applyTo(recipe, getTwoScalars()).messages; };
  EXPECT_THAT(messagesOf(R"({"loss": "result[0].totl"})"),
              HasSubstr("r.json: error: field 'loss': no result is called 'result[0].totl'; expected the name of a "
                        "result; did you mean result[0]['total']?"));
  EXPECT_THAT(messagesOf(R"({"loss": "result[1].w"})"),
              HasSubstr("field 'loss': result[1].w is 'tensor<64x32xf32>'; expected a floating-point scalar"));
  EXPECT_THAT(messagesOf(R"({"loss": 3})"), HasSubstr("field 'loss' is 3; expected the name of a result"));
}

TEST(Loss, TheFlagWins) {
  CompileOptions options;
  options.recipeFile = "r.json";
  options.recipe = R"({"loss": "result[0].total"})";
  options.loss = "result[0].penalty";
  options.emit = EmitLevel::Graph;
  options.writeArtifact = false;
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  auto compileStep = [&] { return compile({{"main", "m.mlir", getTwoScalars()}}, options, errors); };
  FailureOr<Compilation> compilation = compileStep();
  ASSERT_TRUE(succeeded(compilation)) << messages;
  EXPECT_THAT(compilation->emitted, HasSubstr("{sgd.name = \"result[0]['penalty']\", sgd.role = #sgd.role<loss>"));
  options.loss = "result[0].penalti";
  EXPECT_TRUE(failed(compileStep()));
  EXPECT_THAT(messages, HasSubstr("m.mlir: error: --loss: no result is called 'result[0].penalti'"));
}

TEST(Recipe, NothingToShardIsRefused) {
  const std::string program = R"(
func.func @main(%x: tensor<16x4xf32> {sgd.name = "x"}, %s: tensor<f32> {sgd.name = "s"}) -> tensor<16x4xf32> {
  %0 = math.exp %x : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
)";
  EXPECT_THAT(
      errorOf(R"({"mesh": {"data": 2}, "batch": "data", "rules": [{"tensor": "x", "sharding": [null, "data"]}]})",
              program),
      HasSubstr("field 'batch': no program has an input with rows that no rule shards"));
  EXPECT_THAT(
      errorOf(R"({"mesh": {"data": 2}, "batch": "data", "zero": 1})", program),
      HasSubstr("field 'zero' shards what steps carry, but no result is known to be an argument of the next step"));
}

TEST(Recipe, ZeroNeedsALoss) {
  const std::string program = R"(
func.func @main(%w: tensor<64x32xf32> {sgd.name = "w"}, %x: tensor<64x32xf32> {sgd.name = "x"}) -> (tensor<64x32xf32> {sgd.name = "result['w']"}) {
  %0 = arith.addf %w, %x : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
)";
  EXPECT_THAT(errorOf(R"({"mesh": {"data": 2}, "batch": "data", "zero": 1})", program),
              HasSubstr("field 'zero' needs a scalar result that is not carried, the loss"));
}

TEST(Recipe, ScopesShardWhatLeavesThem) {
  const std::string program = R"(
func.func @main(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %0 = math.exp %x : tensor<16x4xf32> loc("jit(f)/mlp/exp")
  %1 = math.sin %0 : tensor<16x4xf32> loc("jit(f)/mlp/sin")
  %2 = math.cos %1 : tensor<16x4xf32> loc("jit(f)/cos")
  return %2 : tensor<16x4xf32>
}
)";
  Outcome outcome = applyTo(R"({"mesh": {"a": 2}, "rules": [{"scope": "mlp", "sharding": ["a", null]}]})", program);
  EXPECT_THAT(
      outcome.graph,
      HasSubstr("%1 = math.sin %0 : tensor<16x4xf32>\n    %2 = sgd.sharding_constraint %1 <@mesh, [{\"a\"}, {}]>"));
  EXPECT_EQ(llvm::StringRef(outcome.graph).count("sharding_constraint"), 1u);
  EXPECT_THAT(errorOf(R"({"mesh": {"a": 2}, "rules": [{"scope": "mlp", "sharding": ["a"]}]})", program),
              HasSubstr("has 1 dimensions, but no value of so many leaves the scopes that 'mlp' matches"));
  EXPECT_THAT(errorOf(R"({"mesh": {"a": 2}, "rules": [{"scope": "mpl", "sharding": ["a"]}]})", program),
              HasSubstr("'mpl' matches no scope of the program; the nearest scope is mlp"));
}

// Two layers, each in a scope of its own.
constexpr const char* kLayers = R"(
#first = loc("jit(step)/jvp(encoder)/layer0/dot_general")
#second = loc("jit(step)/jvp(encoder)/layer1/dot_general")
func.func @main(%a: tensor<8x8xf32> {sgd.name = "params['layer0']['kernel']"}, %b: tensor<8x8xf32> {sgd.name = "params['layer1']['kernel']"}, %x: tensor<4x8xf32> {sgd.name = "x"})
    -> (tensor<4x8xf32> {sgd.name = "result[0]"}, tensor<8x8xf32> {sgd.name = "result[1]['layer0']['kernel']"}, tensor<8x8xf32> {sgd.name = "result[1]['layer1']['kernel']"}) {
  %y = sgd.dot_general %x, %a batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> loc(#first)
  %z = sgd.dot_general %y, %b batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> loc(#second)
  %c = arith.addf %a, %a : tensor<8x8xf32>
  %d = arith.addf %b, %b : tensor<8x8xf32>
  return %z, %c, %d : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
)";

/// What is said of the argument `name`.
std::string attributesOf(const Outcome& outcome, llvm::StringRef name) {
  llvm::StringRef rest = llvm::StringRef(outcome.graph).split(("sgd.name = \"" + name + "\"").str()).second;
  return rest.take_front(rest.find("}")).str();
}

TEST(Recipe, StagesMatchNamesOrScopes) {
  for (const char* recipe :
       {R"({"stages": [{"match": "*layer0*"}, {"match": "params.layer1.*"}], "schedule": "gpipe"})",
        R"({"stages": [{"match": "encoder/layer0"}, {"match": "layer1"}], "schedule": "gpipe"})"}) {
    Outcome outcome = applyTo(recipe, kLayers);
    EXPECT_THAT(outcome.graph,
                AllOf(HasSubstr("sgd.stages = #sgd<axis\"stage\"=2>"), HasSubstr("sgd.schedule = \"gpipe\"")))
        << outcome.messages;
    EXPECT_THAT(attributesOf(outcome, "params['layer0']['kernel']"), HasSubstr("sgd.stage = 0"));
    EXPECT_THAT(attributesOf(outcome, "params['layer1']['kernel']"), HasSubstr("sgd.stage = 1"));
    EXPECT_THAT(attributesOf(outcome, "x"), Not(HasSubstr("sgd.stage")));
  }
}

TEST(Recipe, StagesByNumberAreBalancedLater) {
  Outcome outcome = applyTo(R"({"stages": 2})", kLayers);
  EXPECT_THAT(outcome.graph, AllOf(HasSubstr("sgd.stages = #sgd<axis\"stage\"=2>"), Not(HasSubstr("sgd.schedule")),
                                   Not(HasSubstr("sgd.stage ="))));
  EXPECT_THAT(applyTo(R"({"stages": 1})", kLayers).graph, Not(HasSubstr("sgd.stages")));
}

TEST(Recipe, StagesThatDoNotFitAreRefused) {
  EXPECT_THAT(applyTo(R"({"stages": [{"match": "*layer0*"}, {"match": "*layr1*"}]})", kLayers).messages,
              HasSubstr("field 'stages[1].match': '*layr1*' decides no parameter"));
  EXPECT_THAT(applyTo(R"({"stages": [{"match": "*"}, {"match": "*layer1*"}]})", kLayers).messages,
              HasSubstr("field 'stages[1].match': '*layer1*' decides no parameter"));
  EXPECT_THAT(
      applyTo(R"({"stages": [{"match": "*0*"}, {"match": "*1*"}, {"match": "x"}], "schedule": "interleaved:2"})",
              kLayers)
          .messages,
      HasSubstr("lists 3 chunks, but schedule 'interleaved:2' has 2 on each stage"));
  EXPECT_THAT(applyTo(R"({"mesh": {"stage": 2}, "stages": 2})", kLayers).messages,
              HasSubstr("the mesh has an axis 'stage' already"));
}

TEST(Recipe, MemoryLimitIsTheRecipes) {
  CompileOptions options;
  options.recipeFile = "r.json";
  options.recipe = R"({"memory_limit": "1kB"})";
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(failed(compile({{"main", "m.mlir", kStep}}, options, errors)));
  EXPECT_THAT(messages, HasSubstr("; the recipe's memory_limit allows 1000; "));
}

}  // namespace
}  // namespace mlir::sgd
