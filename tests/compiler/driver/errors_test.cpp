// A refused compilation prints one line: a place, a cause.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/driver/driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string errorOf(std::vector<ProgramSource> sources, CompileOptions options = {}) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(failed(compile(sources, options, errors)));
  EXPECT_EQ(std::count(messages.begin(), messages.end(), '\n'), 1) << messages;
  return messages;
}

std::string errorOf(const char* text, CompileOptions options = {}) {
  return errorOf({{"main", "m.mlir", text}}, options);
}

constexpr const char* kSharded = R"(
sgd.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
)";

TEST(Errors, TextThatIsNoProgram) {
  EXPECT_THAT(errorOf("nonsense !"), StartsWith("m.mlir:1:"));
  EXPECT_EQ(errorOf("\n"), "m.mlir: error: has no function 'main' and not exactly one public function\n");
  EXPECT_THAT(errorOf(""), StartsWith("m.mlir: error: is empty; expected "));
  EXPECT_EQ(errorOf("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}"),
            "m.mlir:2:10: error: use of undeclared SSA value name\n");
  EXPECT_THAT(errorOf("func.func @main() {\n  \"stablehlo.frobnicate\"() : () -> ()\n  return\n}"),
              StartsWith("m.mlir:2:3: error: "));
  EXPECT_THAT(errorOf(std::string(1000, '\1').c_str()),
              StartsWith("m.mlir: error: unknown format, beginning with '\\01\\01"));
}

TEST(Errors, ProgramOfALaterLevel) {
  EXPECT_EQ(
      errorOf("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
              "  %0 = spmd.all_reduce add(%x) <@mesh, {\"x\"}> : (tensor<4xf32>) -> tensor<4xf32>\n"
              "  return %0 : tensor<4xf32>\n}\nsgd.mesh @mesh = <[\"x\"=2]>\n"),
      "m.mlir:2:8: error: spmd.all_reduce is no op of the graph level; expected ops of the graph: sgd but reshards, "
      "arith and math; write the program in ops of sgd, arith and math, with annotations for shardings\n");
}

TEST(Errors, GroupOfAnotherMesh) {
  EXPECT_EQ(
      errorOf("sgd.mesh @mesh = <[\"x\"=2]>\n"
              "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
              "  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{\"x\"}]>] out [#sgd.sharding<@mesh, "
              "[{\"x\"}]>] over <@mesh, {\"x\"}> {\n"
              "  ^bb0(%a: tensor<2xf32>):\n"
              "    %1 = spmd.broadcast %a <@mash, {\"x\"}> : tensor<2xf32>\n"
              "    sgd.yield %1 : tensor<2xf32>\n"
              "  } : (tensor<4xf32>) -> tensor<4xf32>\n"
              "  return %0 : tensor<4xf32>\n}\n"),
      "m.mlir:5:10: error: names the mesh @mash, which the module does not have; expected the one that it has, @mesh; "
      "correct 'axes'\n");
}

TEST(Errors, NestingWithoutBounds) {
  const std::string type = "func.func @main(%x: ";
  for (size_t depth : {1001, 300000}) {
    std::string tuples, attributes = "module attributes {a = ";
    for (size_t i = 0; i < depth; ++i) tuples += "tuple<";
    EXPECT_EQ(errorOf((type + tuples).c_str()),
              "m.mlir:1:6020: error: more than 1000 brackets are open here; no program is nested as deeply\n");
    EXPECT_THAT(errorOf((attributes + std::string(depth, '[')).c_str()), HasSubstr("more than 1000 brackets"));
  }
  // Arrows, strings and comments open and close nothing.
  std::string flat =
      "// " + std::string(2000, '{') + "\nmodule attributes {a = \"\\\"" + std::string(2000, '(') + "\"}";
  EXPECT_THAT(errorOf(flat.c_str()), ::testing::Not(HasSubstr("brackets")));
}

/// A function that adds its argument to itself, with `attributes`, behind `aliases`.
std::string getProgram(const std::string& aliases, const std::string& attributes = "") {
  return aliases + "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {" + attributes +
         "} {\n  %0 = arith.addf %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
}

bool compiles(const std::string& text) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  CompileOptions options;
  options.emit = EmitLevel::Graph;
  options.writeArtifact = false;
  return succeeded(compile({{"main", "m.mlir", text}}, options, errors));
}

TEST(Errors, LongNumbers) {
  const std::string digits(2001, '1'), place = "m.mlir:1:69: error: ";
  const std::string message =
      "a number of 2001 digits in a row; at most 2000 are read; give tensors as dense<\"0x...\">\n";
  EXPECT_EQ(errorOf(getProgram("", "a = " + digits + " : i64").c_str()), place + message);
  EXPECT_EQ(errorOf(getProgram("", "a = 0x" + digits.substr(2)).c_str()), place + message);
  EXPECT_EQ(errorOf(getProgram("", "a = 1." + digits).c_str()), "m.mlir:1:71: error: " + message);
  EXPECT_EQ(errorOf(("func.func @main(%x: tensor<" + digits + "xf32>)").c_str()), "m.mlir:1:28: error: " + message);
  // Those that are shorter, exponents, which are infinite at once, and what is no number.
  EXPECT_TRUE(compiles(getProgram("", "a = 1.0e" + digits)));
  EXPECT_TRUE(
      compiles(getProgram("// " + digits + "\n", "a = \"" + digits + "\", b = 0." + digits.substr(1) + "e10 : f64")));
  EXPECT_THAT(errorOf(getProgram("", "a = " + digits.substr(1) + " : i64").c_str()),
              StartsWith("m.mlir:1:69: error: "));
}

TEST(Errors, AlignmentsOfResources) {
  const auto withBlob = [](const std::string& alignment) {
    return "func.func @main() -> tensor<1xf32> {\n  %0 = arith.constant dense_resource<blob> : tensor<1xf32>\n"
           "  return %0 : tensor<1xf32>\n}\n{-# dialect_resources: { builtin: { blob: \"0x" +
           alignment + "0000803F\" } } #-}\n";
  };
  EXPECT_TRUE(compiles(withBlob("04000000")));
  const std::string place = "m.mlir:5:43: error: a resource aligned to ";
  for (auto [alignment, bytes] : {std::pair("00000000", "0"), {"03000000", "3"}, {"00000080", "2147483648"}})
    EXPECT_THAT(errorOf(withBlob(alignment).c_str()),
                StartsWith(place + bytes + " bytes; expected a power of two of at most 4096"));
}

TEST(Errors, AliasesWithoutBounds) {
  // Each names the one before, once or twice.
  const auto chain = [](int length, const std::string& once) {
    std::string aliases = "#a0 = 1 : i64\n";
    for (int i = 1; i < length; ++i) {
      std::string alias = once;
      while (alias.find('?') != std::string::npos) alias.replace(alias.find('?'), 1, "#a" + std::to_string(i - 1));
      aliases += "#a" + std::to_string(i) + " = " + alias + "\n";
    }
    return aliases;
  };
  EXPECT_THAT(errorOf(getProgram(chain(300000, "[?]")).c_str()),
              HasSubstr("with its aliases in their places more than 1000 brackets are open here"));
  EXPECT_THAT(errorOf(getProgram(chain(2000, "\n[\n?\n]")).c_str()), HasSubstr("more than 1000 brackets"));
  EXPECT_THAT(errorOf(getProgram(chain(60, "[?, ?]")).c_str()),
              HasSubstr("has more than 67108864 characters once the aliases that it names stand in it"));
  EXPECT_TRUE(compiles(getProgram(chain(900, "[?]"), "a = #a899")));
  EXPECT_TRUE(compiles(getProgram(chain(15, "[?, ?]"), "a = #a14")));
  EXPECT_THAT(errorOf(getProgram("", "a = affine_map<() -> (" + std::string(300000, '-') + "1)>").c_str()),
              HasSubstr("more than 1000 minus signs follow each other"));
}

/// Functions f0, f1, ... that each call the next so many times; the last one adds.
std::string getCalls(int depth, int calls) {
  const std::string type = "tensor<8xf32>";
  std::string text;
  for (int i = 0; i <= depth; ++i) {
    text += std::string("func.func ") + (i == 0 ? "public @main" : "private @f" + std::to_string(i)) + "(%a0: " + type +
            ") -> " + type + " {\n";
    const int ops = i == depth ? 1 : calls;
    for (int call = 0; call < ops; ++call) {
      const std::string from = "%a" + std::to_string(call), to = "  %a" + std::to_string(call + 1) + " = ";
      text += i == depth
                  ? to + "stablehlo.add " + from + ", " + from + " : " + type + "\n"
                  : to + "func.call @f" + std::to_string(i + 1) + "(" + from + ") : (" + type + ") -> " + type + "\n";
    }
    text += "  return %a" + std::to_string(ops) + " : " + type + "\n}\n";
  }
  return text;
}

TEST(Errors, CallsWithoutBounds) {
  EXPECT_THAT(
      errorOf(getCalls(24, 2).c_str()),
      testing::AllOf(
          StartsWith("m.mlir:"),
          HasSubstr(
              "the calls main -> f1 -> f2 -> f3 -> f4 -> f5 become more than 2097152 ops when they are inlined")));
  EXPECT_THAT(errorOf(getCalls(60, 20).c_str()), HasSubstr("become more than 2097152 ops"));
  EXPECT_THAT(errorOf(getCalls(2000, 1).c_str()),
              HasSubstr("calls nest deeper than 500 functions: main -> f1 -> f2 -> ... -> f498 -> f499 -> f500"));
  EXPECT_TRUE(compiles(getCalls(400, 1)));
  EXPECT_TRUE(compiles(getCalls(12, 2)));
}

TEST(Errors, FunctionsThatCallEachOther) {
  EXPECT_THAT(errorOf(R"(
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @g(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
)"),
              HasSubstr("'f' calls itself; recursion is not supported"));
}

TEST(Errors, PlaceIsTheUsersOwn) {
  std::string text =
      "func.func @main(%x: tensor<4x4xi1>) -> tensor<4x4xi1> {\n"
      "  %0 = sgd.dot_general %x, %x batching = [] x [] contracting = [1] x [0] : tensor<4x4xi1>, tensor<4x4xi1> -> "
      "tensor<4x4xi1> "
      "loc(\"jit(f)/dot\"(callsite(\"net.py\":12:4 at \"main.py\":3:1)))\n"
      "  return %0 : tensor<4x4xi1>\n}";
  EXPECT_THAT(errorOf(text.c_str()), StartsWith("net.py:12:4: error: "));
}

TEST(Errors, TypesThatNoBufferHas) {
  EXPECT_THAT(errorOf("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"),
              HasSubstr("argument 0 has type 'tensor<?xf32>'; arguments must be tensors of static shape"));
  EXPECT_THAT(
      errorOf("func.func @main(%x: tensor<4xf8E4M3FNUZ>) -> tensor<4xf8E4M3FNUZ> { return %x : tensor<4xf8E4M3FNUZ> }"),
      HasSubstr("'f8E4M3FNUZ', which artifacts do not have"));
}

TEST(Errors, ConvolutionsOfBooleans) {
  const char* text =
      "func.func @main(%x: tensor<2x8x1x3xi1>, %w: tensor<3x1x3x4xi1>) -> tensor<2x6x1x4xi1> {\n"
      "  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : "
      "tensor<2x8x1x3xi1>, tensor<3x1x3x4xi1> -> tensor<2x6x1x4xi1> loc(\"net.py\":7:3)\n"
      "  return %0 : tensor<2x6x1x4xi1>\n}";
  EXPECT_EQ(
      errorOf(text),
      "net.py:7:3: error: 'sgd.convolution' op of booleans is not supported; convert the operands to i32 first\n");
}

TEST(Errors, Mesh) {
  CompileOptions options;
  options.mesh = {{"model", 2}};
  EXPECT_EQ(
      errorOf(kSharded, options),
      "m.mlir: error: --mesh names the axis 'model', which the model does not have; its axes are data; a new axis "
      "needs a recipe that "
      "shards something over it, as --batch model does the rows of inputs\n");
  EXPECT_EQ(
      errorOf("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }", options),
      "m.mlir: error: --mesh names the axis 'model', which the model does not have; it has no mesh; a new axis needs a "
      "recipe that "
      "shards something over it, as --batch model does the rows of inputs\n");
}

TEST(Errors, MeshOfTooManyRanks) {
  const std::string cause = "mesh has more than 1048576 ranks; expected at most 1048576; correct the sizes\n";
  CompileOptions sized;
  sized.mesh = {{"data", 1048577}};
  EXPECT_EQ(errorOf(kSharded, sized), "m.mlir: error: --mesh: " + cause);
  CompileOptions recipe;
  recipe.recipeFile = "r.json";
  recipe.recipe = R"({"mesh": {"data": 1000000007}, "batch": "data"})";
  EXPECT_EQ(errorOf(kSharded, recipe), "r.json: error: field 'mesh': " + cause);
  recipe.recipe = R"({"mesh": {"data": 524288}, "stages": 4})";
  EXPECT_EQ(errorOf(kSharded, recipe), "r.json: error: field 'stages': with its stages, the " + cause);
  // 2^32 + 4 is 4 in the artifact's 32 bits.
  for (const char* size : {"1048577", "4294967300", "9223372036854775807"}) {
    std::string text = kSharded;
    text.replace(text.find("=4]"), 2, std::string("=") + size);
    EXPECT_THAT(errorOf(text.c_str()), AllOf(StartsWith("m.mlir:2:"), HasSubstr(cause)));
    EXPECT_EQ(errorOf((std::string("sdy.mesh @mesh = <[\"data\"=") + size +
                       "]>\nfunc.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                       "  %0 = stablehlo.add %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n")
                          .c_str()),
              "m.mlir:1:1: error: " + cause);
  }
}

TEST(Errors, LongNamesAreShortened) {
  const std::string name(100000, 'n');
  CompileOptions recipe;
  recipe.recipeFile = "r.json";
  for (const std::string& text : {"{\"" + name + "\": 1}", "{\"mesh\": {\"" + name + "\": 0}}",
                                  "{\"mesh\": {\"a\": 4}, \"batch\": \"" + name + "\"}"}) {
    recipe.recipe = text;
    const std::string message = errorOf(kSharded, recipe);
    EXPECT_THAT(message, AllOf(StartsWith("r.json: error: field '"), HasSubstr("nnn...nnn")));
    EXPECT_LT(message.size(), 1000u);
  }
  CompileOptions sized;
  sized.mesh = {{name, 2}};
  EXPECT_LT(errorOf(kSharded, sized).size(), 1000u);
  EXPECT_LT(errorOf({{"main", name, "nonsense !"}}).size(), 1000u);
}

TEST(Errors, UnknownAxisInASharding) {
  std::string text = kSharded;
  text.replace(text.find("{\"data\"}"), 8, "{\"dada\"}");
  EXPECT_THAT(errorOf(text.c_str()), HasSubstr("dada"));
}

TEST(Errors, ProgramsThatDoNotFitTogether) {
  std::string other = kSharded;
  other.replace(other.find("\"data\"=4"), 8, "\"data\"=2");
  EXPECT_THAT(errorOf({{"train", "a.mlir", kSharded}, {"eval", "b.mlir", other}}),
              HasSubstr("programs of one artifact run on one mesh"));
}

TEST(Errors, MemoryLimitNamesTheLargestBuffers) {
  CompileOptions options;
  options.memoryLimit = 10;
  const char* text =
      "func.func @main(%x: tensor<64xf32> {sgd.name = \"images\"}) -> tensor<64xf32> {\n  %0 = math.exp %x : "
      "tensor<64xf32>\n  return %0 : tensor<64xf32>\n}";
  EXPECT_EQ(errorOf(text, options),
            "m.mlir: error: needs 512 bytes in each rank, even with recomputation; --memory-limit allows 10; the "
            "smallest feasible limit is 512; the largest buffers: value at m.mlir:2:8 (256 bytes), "
            "argument images at m.mlir:1:17 (256 bytes)\n");
}

TEST(Errors, TopologyFile) {
  CompileOptions options;
  options.topology = "/nowhere/topology.json";
  EXPECT_THAT(errorOf(kSharded, options), HasSubstr("/nowhere/topology.json"));
}

std::string readError(std::vector<std::string> models) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(failed(readSources(models, /*whole=*/true, errors)));
  return messages;
}

TEST(ReadSources, SaysWhatIsWrong) {
  EXPECT_EQ(readError({"/nowhere/step.mlir"}), "/nowhere/step.mlir: error: cannot read: No such file or directory\n");
  EXPECT_EQ(readError({"a.mlir", "b.mlir"}), "sgdc: error: 'a.mlir': several models must be given as NAME=MODEL\n");
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "compiler_test_XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

TEST_F(Files, ProgramsAreNamed) {
  std::string path = folder / "step.mlir";
  std::ofstream(path) << "module {}";
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  auto one = readSources({path}, /*whole=*/true, errors);
  ASSERT_TRUE(succeeded(one));
  EXPECT_EQ(one->front().name, "main");
  EXPECT_EQ(one->front().text, "module {}");
  auto two = readSources({"train=" + path, "eval=" + path}, /*whole=*/true, errors);
  ASSERT_TRUE(succeeded(two));
  EXPECT_EQ((*two)[1].name, "eval");
  EXPECT_EQ(readError({"train=" + path, "train=" + path}), "sgdc: error: two programs are named 'train'\n");
}

TEST_F(Files, WritesWholeFilesOnly) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(succeeded(writeFile((folder / "out").string(), "bytes", errors)));
  EXPECT_TRUE(failed(writeFile((folder / "missing" / "out").string(), "bytes", errors)));
  EXPECT_THAT(messages, HasSubstr("missing/out: cannot create: No such file or directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()), 1);
}

}  // namespace
}  // namespace mlir::sgd
