// Whole compilations of small programs: numbers of the report, levels of IR, several programs in one artifact, equal
// bytes.
#include "compiler/driver/driver.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/artifact/reader.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// y = x @ w per rank; the gradient-like x^T y is summed over the ranks and subtracted from w.
constexpr const char* kStep = R"(
sgd.mesh @mesh = <["data"=4]>
func.func @main(%w: tensor<16x16xf32> {sgd.alias_output = 0 : i64, sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %x: tensor<32x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
  %n = arith.subf %w, %g : tensor<16x16xf32>
  return %n : tensor<16x16xf32>
}
)";

constexpr const char* kEval = R"(
sgd.mesh @other = <["data"=4]>
func.func @main(%x: tensor<64x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@other, [{"data"}, {}]>},
                %w: tensor<16x16xf32> {sgd.name = "w", sgd.sharding = #sgd.sharding<@other, [{}, {}]>}) -> tensor<f32> {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %s = sgd.reduce add %y dimensions = [0, 1] : tensor<64x16xf32> -> tensor<f32>
  return %s : tensor<f32>
}
)";

Compilation compileOrDie(std::vector<ProgramSource> sources, CompileOptions options = {}) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  options.cpu = "x86-64-v3";
  FailureOr<Compilation> result = compile(sources, options, errors);
  EXPECT_TRUE(succeeded(result)) << messages;
  return succeeded(result) ? std::move(*result) : Compilation();
}

std::unique_ptr<::sgd::artifact::ArtifactFile> open(const Compilation& compilation) {
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(compilation.artifact, "test");
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? std::move(*file) : nullptr;
}

// By their types, whatever launches pass: the subtraction's two operands and the result that is written over one.
TEST(Driver, KernelsSayWhatTheyTake) {
  auto file = open(compileOrDie({{"main", "step.mlir", kStep}}));
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(file->root().kernels()->size(), 1u);
  const ::sgd::artifact::Kernel& kernel = *file->root().kernels()->Get(0);
  EXPECT_EQ(kernel.outputs(), 1u);
  EXPECT_EQ(kernel.coordinates(), 0u);
  EXPECT_GT(kernel.range(), 0u);
  ASSERT_EQ(kernel.least_bytes()->size(), 2u);
  for (uint64_t bytes : *kernel.least_bytes()) EXPECT_EQ(bytes, 4u * 256);
}

TEST(Driver, ReportsFourRanks) {
  Report report = compileOrDie({{"main", "step.mlir", kStep}}).report;
  EXPECT_EQ(report.ranks, 4);
  EXPECT_EQ(report.mesh, (std::vector<std::pair<std::string, int64_t>>{{"data", 4}}));
  EXPECT_EQ(report.libraryCalls, 2u);
  EXPECT_EQ(report.kernels, 1u);
  // Two matmuls of 2 * 8 * 16 * 16 flops, one subtraction per element.
  EXPECT_EQ(report.flops, 2u * 2 * 8 * 16 * 16 + 256);
  EXPECT_EQ(report.memory.arguments, 4u * (256 + 128));
  EXPECT_EQ(report.memory.outputs, 4u * 256);
  EXPECT_EQ(report.memory.aliased, 4u * 256);
  EXPECT_EQ(report.memory.constants, 0u);
  EXPECT_EQ(report.memory.peak,
            report.memory.arguments + report.memory.outputs - report.memory.aliased + report.memory.temporaries);
  ASSERT_EQ(report.collectives.size(), 1u);
  const CollectiveReport& collective = report.collectives.front();
  EXPECT_EQ(collective.kind, "all_reduce");
  EXPECT_EQ(collective.operandBytes, 1024u);
  EXPECT_EQ(collective.sentBytes, 1536u);  // 2 * 3 / 4 of the operand
  EXPECT_EQ(collective.groupSize, 4);
  EXPECT_EQ(collective.location, "step.mlir:7:8");
  EXPECT_EQ(report.sentBytes, 1536u);
  EXPECT_GT(report.estimatedSeconds, 0);
}

TEST(Driver, ReportAsJsonHasTheContractsKeys) {
  nlohmann::json json = compileOrDie({{"main", "step.mlir", kStep}}).report.toJson();
  for (const char* key : {"ranks", "mesh", "target", "compile_seconds", "memory", "flops", "kernels", "library_calls",
                          "sent_bytes", "collectives"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"peak", "arguments", "outputs", "aliased", "constants", "temporaries"})
    EXPECT_TRUE(json["memory"][key].is_number_integer()) << key;
  for (const char* key : {"kind", "count", "operand_bytes", "sent_bytes", "group_size", "loc", "in_loop"})
    EXPECT_TRUE(json["collectives"][0].contains(key)) << key;
}

TEST(Driver, MeshOfOneRankSendsNothing) {
  CompileOptions options;
  options.mesh = {{"data", 1}};
  Report report = compileOrDie({{"main", "step.mlir", kStep}}, options).report;
  EXPECT_EQ(report.ranks, 1);
  EXPECT_EQ(report.sentBytes, 0u);
  EXPECT_TRUE(report.collectives.empty());
  EXPECT_EQ(report.memory.arguments, 4u * (256 + 512));
}

TEST(Driver, SameSourcesSameBytes) {
  EXPECT_EQ(compileOrDie({{"main", "step.mlir", kStep}}).artifact,
            compileOrDie({{"main", "step.mlir", kStep}}).artifact);
}

// Contexts and code generators go from one compilation to the next.
TEST(Driver, EarlierCompilationsDoNotChangeTheBytes) {
  const std::string step = compileOrDie({{"main", "step.mlir", kStep}}).artifact;
  const std::string eval = compileOrDie({{"main", "eval.mlir", kEval}}).artifact;
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(failed(compile({{"main", "wrong.mlir", "func.func @main("}}, {}, errors)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(compileOrDie({{"main", "eval.mlir", kEval}}).artifact, eval);
    EXPECT_EQ(compileOrDie({{"main", "step.mlir", kStep}}).artifact, step);
  }
}

TEST(Driver, WhatOnlyRunsIsNotDescribed) {
  CompileOptions options;
  options.omitsDescription = true;
  const Compilation described = compileOrDie({{"main", "step.mlir", kStep}});
  const Compilation compilation = compileOrDie({{"main", "step.mlir", kStep}}, options);
  EXPECT_EQ(compilation.report.flops, described.report.flops);
  EXPECT_EQ(compilation.report.memory.peak, described.report.memory.peak);
  auto file = open(compilation);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(::sgd::artifact::Size(file->root().records()), 0u);
  EXPECT_EQ(file->kernels().size(), open(described)->kernels().size());
}

TEST(Driver, ThreadsDoNotChangeTheBytes) {
  CompileOptions one, two;
  one.threads = 1;
  two.threads = 2;
  EXPECT_EQ(compileOrDie({{"train", "a.mlir", kStep}, {"eval", "b.mlir", kEval}}, one).artifact,
            compileOrDie({{"train", "a.mlir", kStep}, {"eval", "b.mlir", kEval}}, two).artifact);
}

TEST(Driver, UpdateIsWrittenIntoTheArgument) {
  auto file = open(compileOrDie({{"main", "step.mlir", kStep}}));
  ASSERT_TRUE(file);
  const auto& program = **file->FindProgram("main");
  EXPECT_EQ(program.inputs()->Get(0)->name()->str(), "w");
  EXPECT_TRUE(program.inputs()->Get(0)->state());
  EXPECT_FALSE(program.inputs()->Get(1)->state());
  EXPECT_EQ(program.outputs()->Get(0)->carry_input(), 0);
  EXPECT_EQ(program.outputs()->Get(0)->slice()->offset(), program.inputs()->Get(0)->slice()->offset());
  for (const auto* instruction : *program.instructions()) EXPECT_FALSE(instruction->op_as_Copy());
}

TEST(Driver, ProgramsShareStateByName) {
  auto file = open(compileOrDie({{"train", "a.mlir", kStep}, {"eval", "b.mlir", kEval}}));
  ASSERT_TRUE(file);
  const auto &train = **file->FindProgram("train"), &eval = **file->FindProgram("eval");
  const auto *w = train.inputs()->Get(0), *sharedW = eval.inputs()->Get(1);
  EXPECT_EQ(sharedW->name()->str(), "w");
  EXPECT_TRUE(sharedW->state());
  EXPECT_EQ(w->slice()->offset(), sharedW->slice()->offset());
  EXPECT_EQ(w->slice()->space(), sharedW->slice()->space());
  // Batches of different sizes are two inputs.
  EXPECT_NE(train.inputs()->Get(1)->slice()->offset(), eval.inputs()->Get(0)->slice()->offset());
}

// As those of two lambdas, which JAX calls jit__lambda.
TEST(Driver, ModulesOfProgramsMayHaveOneName) {
  auto named = [](const std::string& text) { return "module @jit__lambda {" + text + "}"; };
  auto file = open(compileOrDie({{"train", "step.mlir", named(kStep)}, {"eval", "eval.mlir", named(kEval)}}));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->root().programs()->size(), 2u);
}

TEST(Driver, EmitsEachLevel) {
  const std::pair<EmitLevel, const char*> levels[] = {
      {EmitLevel::Graph, "tensor<32x16xf32>"},
      {EmitLevel::Sharded, "tensor<32x16xf32, #sgd.sharding<@mesh, [{\"data\"}, {}]>>"},
      {EmitLevel::Spmd, "spmd.all_reduce"},
      {EmitLevel::Kernels, "fusion.cluster"},
      {EmitLevel::Plan, "plan.alloc offset"}};
  for (auto [level, text] : levels) {
    CompileOptions options;
    options.emit = level;
    options.writeArtifact = false;
    Compilation compilation = compileOrDie({{"main", "step.mlir", kStep}}, options);
    EXPECT_THAT(compilation.emitted, HasSubstr(text));
    EXPECT_TRUE(compilation.artifact.empty());
  }
}

// Under a limit, a search writes the text.
TEST(Driver, EmitsStablehlo) {
  for (std::optional<uint64_t> limit : {std::optional<uint64_t>(), std::optional<uint64_t>(1 << 20)}) {
    CompileOptions options;
    options.emit = EmitLevel::Spmd;
    options.emitsStablehlo = true;
    options.writeArtifact = false;
    options.memoryLimit = limit;
    Compilation compilation = compileOrDie({{"train", "step.mlir", kStep}}, options);
    EXPECT_THAT(compilation.emitted, HasSubstr("module @train attributes {mhlo.num_partitions = 4 : i32"));
    EXPECT_THAT(compilation.emitted, HasSubstr("func.func @main("));
    EXPECT_THAT(compilation.emitted, HasSubstr("\"stablehlo.all_reduce\""));
    EXPECT_THAT(compilation.emitted, HasSubstr("loc(\"step.mlir\":"));
    EXPECT_THAT(compilation.emitted, Not(HasSubstr("spmd.")));
  }
}

// Whatever the programs are called: "main" is no better than others.
TEST(Driver, ReportsTheProgramWhoseStepChangesState) {
  Report report = compileOrDie({{"main", "b.mlir", kEval}, {"epoch", "a.mlir", kStep}}).report;
  EXPECT_EQ(report.program, "epoch");
  EXPECT_EQ(report.sentBytes, 1536u);
  EXPECT_EQ(compileOrDie({{"train", "b.mlir", kEval}}).report.program, "train");
}

TEST(Driver, TheArtifactSaysWhatTheDeviceDoesAndWhyItCommunicates) {
  auto file = open(compileOrDie({{"main", "step.mlir", kStep}}));
  ASSERT_NE(file, nullptr);
  const auto* device = file->root().device();
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name()->str(), "host");
  EXPECT_EQ(device->flops() / device->memory_bandwidth(), 6);
  const auto& program = **file->FindProgram("main");
  ASSERT_EQ(program.explain()->size(), 1u);
  const auto& explain = *program.explain()->Get(0);
  EXPECT_EQ(explain.cause(), ::sgd::artifact::MovementCause::Producer);
  EXPECT_EQ(explain.op()->str(), "sgd.dot_general");
  EXPECT_EQ(explain.tensor()->str(), "gradient of w, tensor<16x16xf32>");
  EXPECT_EQ(explain.source()->str(), "step.mlir:7:8");
  EXPECT_EQ(explain.kind()->str(), "all_reduce");
  EXPECT_EQ(explain.bytes(), 1536u);
}

TEST(Driver, ExplainsTheCollective) {
  Compilation compilation = compileOrDie({{"main", "step.mlir", kStep}});
  ASSERT_EQ(compilation.explanation.records.size(), 2u);
  const ExplainRecord& record = compilation.explanation.records.front();
  EXPECT_EQ(record.op, "all_reduce");
  EXPECT_EQ(record.bytes, 1536u);
  EXPECT_GT(record.seconds, 0);
  EXPECT_THAT(record.from, HasSubstr("unreduced={\"data\"}"));
  EXPECT_THAT(record.steps, HasSubstr("all_reduce"));
  EXPECT_FALSE(record.why.empty());
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.explanation.printAll(stream);
  EXPECT_THAT(text, HasSubstr("step.mlir:7:8: all_reduce, 1536 bytes sent"));
}

TEST(Driver, ExplainsTheUpdate) {
  ExplainRecord record = compileOrDie({{"main", "step.mlir", kStep}}).explanation.records.back();
  EXPECT_EQ(record.op, "update");
  EXPECT_EQ(record.location, "step.mlir:7:8");
  EXPECT_THAT(record.why, HasSubstr("every rank updates the whole of result 0: sharded, it is estimated to take"));
  CompileOptions options;
  options.shardUpdates = false;
  EXPECT_EQ(compileOrDie({{"main", "step.mlir", kStep}}, options).explanation.records.size(), 1u);
}

}  // namespace
}  // namespace mlir::sgd
