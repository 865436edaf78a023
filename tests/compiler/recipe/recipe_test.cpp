// Recipes as text: what is read, and the one line that refuses what is not.
#include "compiler/recipe/recipe.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string errorOf(llvm::StringRef text) {
  llvm::Expected<Recipe> recipe = parseRecipe(text, "r.json");
  return recipe ? "accepted" : llvm::toString(recipe.takeError());
}

TEST(ParseRecipe, ReadsEveryField) {
  llvm::Expected<Recipe> recipe = parseRecipe(R"({
    "mesh": {"model": 2, "data": 4, "a": 3}, "batch": ["data", "model"], "zero": 3, "memory_limit": "16GiB", "bucket_size_mb": 25, "attention": "all_to_all",
    "rules": [{"tensor": "*.kernel", "sharding": [null, "model", ["a", "data"], "?"]}, {"scope": "mlp", "sharding": []}]})",
                                              "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe)) << llvm::toString(recipe.takeError());
  std::vector<std::string> axes;
  for (const MeshAxisSize& axis : recipe->mesh) axes.push_back(axis.name + "=" + std::to_string(axis.size));
  EXPECT_THAT(axes, ElementsAre("model=2", "data=4", "a=3")) << "the order of the file numbers ranks";
  EXPECT_THAT(recipe->batch, ElementsAre("data", "model"));
  EXPECT_EQ(recipe->zero, 3);
  EXPECT_EQ(recipe->memoryLimit, uint64_t{16} << 30);
  EXPECT_EQ(recipe->bucketBytes, 25000000u);
  EXPECT_EQ(recipe->attention, ContextForm::AllToAll);
  ASSERT_EQ(recipe->rules.size(), 2u);
  EXPECT_EQ(recipe->rules[0].tensor, "*.kernel");
  ASSERT_EQ(recipe->rules[0].dims.size(), 4u);
  EXPECT_THAT(recipe->rules[0].dims[0].axes, ElementsAre());
  EXPECT_FALSE(recipe->rules[0].dims[0].isOpen);
  EXPECT_THAT(recipe->rules[0].dims[1].axes, ElementsAre("model"));
  EXPECT_THAT(recipe->rules[0].dims[2].axes, ElementsAre("a", "data"));
  EXPECT_TRUE(recipe->rules[0].dims[3].isOpen);
  EXPECT_EQ(recipe->rules[1].scope, "mlp");
}

TEST(ParseRecipe, ReadsHowPartsAreAccumulated) {
  llvm::Expected<Recipe> recipe =
      parseRecipe(R"({"sequential": {"micro": 2}, "accumulate": {"type": "own", "as": "shards"}})", "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe)) << llvm::toString(recipe.takeError());
  EXPECT_TRUE(recipe->sumsInOwnType && recipe->exchangesInLoops);
  EXPECT_EQ(errorOf(R"({"accumulate": {"as": "shard"}})"),
            "field 'accumulate.as' is \"shard\"; expected \"whole\" or \"shards\"");
  EXPECT_EQ(errorOf(R"({"accumulate": {"type": 16}})"), "field 'accumulate.type' is 16; expected \"f32\" or \"own\"");
  EXPECT_THAT(errorOf(R"({"accumulate": {"in": "f32"}})"), HasSubstr("'accumulate.in' is unknown"));
  EXPECT_THAT(errorOf(R"({"accumulate": {"type": "own"}})"), HasSubstr("expected a field 'sequential' as well"));
  EXPECT_THAT(errorOf(R"({"sequential": {"micro": 2}, "stages": 2, "accumulate": {"as": "shards"}})"),
              HasSubstr("expected one of them"));
}

TEST(ParseRecipe, AllFieldsAreOptional) {
  llvm::Expected<Recipe> recipe = parseRecipe("{}", "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe));
  EXPECT_TRUE(recipe->mesh.empty() && recipe->batch.empty() && recipe->rules.empty());
  EXPECT_EQ(recipe->zero, 0);
}

TEST(ParseRecipe, ReadsExpectations) {
  llvm::Expected<Recipe> recipe = parseRecipe(R"({"expect": [
    {"collective": "all_gather", "axis": "model", "scope": "layers.*", "bytes": 0}, {"sent_bytes": "1.2GB"},
    {"peak": "70GiB"}, {"replicated": "params.*", "axis": "data", "bytes": 4096}]})",
                                              "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe)) << llvm::toString(recipe.takeError());
  ASSERT_EQ(recipe->expectations.size(), 4u);
  const Expectation& gather = recipe->expectations[0];
  EXPECT_EQ(gather.kind, Expectation::Kind::Collective);
  EXPECT_EQ(gather.collective + " " + gather.axis + " " + gather.scope, "all_gather model layers.*");
  EXPECT_EQ(gather.bytes, 0u);
  EXPECT_EQ(recipe->expectations[1].bytes, 1200000000u);
  EXPECT_EQ(recipe->expectations[2].kind, Expectation::Kind::Peak);
  EXPECT_EQ(recipe->expectations[2].bytes, uint64_t{70} << 30);
  EXPECT_EQ(recipe->expectations[3].tensor + " " + recipe->expectations[3].axis, "params.* data");
  EXPECT_EQ(recipe->expectations[3].bytes, 4096u);
}

TEST(ParseRecipe, NamesTheExpectationThatIsWrong) {
  EXPECT_THAT(errorOf(R"({"expect": {"peak": 1}})"), HasSubstr("field 'expect' is {\"peak\":1}; expected a list"));
  EXPECT_THAT(errorOf(R"({"expect": [{"bytes": 1}]})"),
              HasSubstr("field 'expect[0]' is {\"bytes\":1}; expected an object with one of"));
  EXPECT_THAT(errorOf(R"({"expect": [{"peak": 1, "sent_bytes": 2}]})"), HasSubstr("with one of"));
  EXPECT_THAT(errorOf(R"({"expect": [{"peak": 1, "axis": "data"}]})"), HasSubstr("'expect[0].axis'"));
  EXPECT_EQ(errorOf(R"({"expect": [{"peak": -1}]})"),
            "field 'expect[0].peak' is -1; expected a number of bytes, 0 or \"1.2GB\"");
  EXPECT_THAT(errorOf(R"({"expect": [{"peak": "5XB"}]})"), HasSubstr("'5XB' is not a number of bytes"));
  EXPECT_EQ(errorOf(R"({"expect": [{"peak": 1}, {"collective": "all_reduce"}]})"),
            "field 'expect[1].bytes' is missing; expected the bytes that are allowed, such as 0");
  EXPECT_THAT(errorOf(R"({"expect": [{"collective": "allreduce", "bytes": 0}]})"),
              HasSubstr("did you mean \"all_reduce\"?"));
  EXPECT_THAT(errorOf(R"({"expect": [{"replicated": "", "bytes": 0}]})"), HasSubstr("'expect[0].replicated' is \"\""));
}

TEST(ParseRecipe, NamesTheFieldAndWhatIsExpected) {
  EXPECT_THAT(errorOf("{"), HasSubstr("not JSON: [1:"));
  EXPECT_EQ(errorOf("{\n  \"zero\" 1}"), "not JSON: [2:10, byte=12]: Expected : after object key");
  EXPECT_EQ(errorOf("{\"zero\": 01}"), "not JSON: [1:11, byte=11]: Expected , or } after object property");
  EXPECT_EQ(errorOf("[1]"), "holds [1]; expected an object with the fields of a recipe");
  EXPECT_EQ(errorOf(R"({"mesh": 4})"),
            "field 'mesh' is 4; expected an object with the size of each axis, {\"data\": 4}");
  EXPECT_EQ(errorOf(R"({"mesh": {"data": 0}})"), "field 'mesh.data' is 0; expected a positive whole number");
  EXPECT_EQ(errorOf(R"({"mesh": {"data": 18446744073709551615}})"),
            "field 'mesh.data' is 18446744073709551615; expected a positive whole number");
  EXPECT_EQ(errorOf(R"({"batch": ["data", "data"]})"),
            "field 'batch' is [\"data\",\"data\"]; expected an axis of the mesh or a list of axes, each once");
  EXPECT_EQ(errorOf(R"({"batch": "data", "zero": 4})"), "field 'zero' is 4; expected 0, 1, 2 or 3");
  EXPECT_EQ(errorOf(R"({"zero": 1})"),
            "field 'zero' shards over the axes of the batch; expected a field 'batch' as well");
  EXPECT_EQ(errorOf(R"({"attention": "rings"})"),
            "field 'attention' is \"rings\"; expected \"ring\", \"striped_ring\", \"all_to_all\" or \"gathered\"");
  EXPECT_EQ(errorOf(R"({"memory_limit": 5})"), "field 'memory_limit' is 5; expected a string such as \"16GiB\"");
  EXPECT_THAT(errorOf(R"({"memory_limit": "5XB"})"), HasSubstr("'5XB' is not a number of bytes"));
  EXPECT_EQ(
      errorOf(R"({"offload": "activation"})"),
      "field 'offload' is \"activation\"; expected \"auto\", \"never\", \"states\" or \"activations\"; did you mean "
      "\"activations\"?");
  EXPECT_EQ(errorOf(R"({"offload": ["states"]})"),
            "field 'offload' is [\"states\"]; expected \"auto\", \"never\", \"states\" or \"activations\"");
  EXPECT_EQ(errorOf(R"({"bucket_size_mb": -1})"),
            "field 'bucket_size_mb' is -1; expected a positive number of megabytes");
  EXPECT_EQ(errorOf(R"({"rules": [{"sharding": []}]})"), "field 'rules[0]' needs one of 'tensor' and 'scope', a glob");
  EXPECT_EQ(errorOf(R"({"rules": [{"tensor": "a", "scope": "b", "sharding": []}]})"),
            "field 'rules[0]' needs one of 'tensor' and 'scope', a glob");
  EXPECT_THAT(errorOf(R"({"rules": [{"tensor": "a"}]})"), HasSubstr("field 'rules[0].sharding' is missing"));
  EXPECT_THAT(errorOf(R"({"rules": [{"tensor": "", "sharding": []}]})"), HasSubstr("field 'rules[0].tensor' is \"\""));
  EXPECT_THAT(errorOf(R"({"rules": [{"tensor": "a", "sharding": [null, 3]}]})"),
              HasSubstr("field 'rules[0].sharding[1]' is 3; expected an axis"));
  EXPECT_THAT(errorOf(R"({"rules": [{"tensor": "a", "batch": -1}]})"),
              HasSubstr("field 'rules[0].batch' is -1; expected the number of a dimension, or null"));
  EXPECT_THAT(errorOf(R"({"rules": [{"scope": "a", "batch": 0}]})"), HasSubstr("expected it beside 'tensor' alone"));
  EXPECT_THAT(errorOf(R"({"replicate": "params.*"})"),
              HasSubstr("field 'replicate' is \"params.*\"; expected a list of globs"));
  EXPECT_THAT(errorOf(R"({"replicate": [""]})"), HasSubstr("field 'replicate[0]' is \"\"; expected a glob"));
}

TEST(ParseRecipe, ReadsCompressionByAxis) {
  llvm::Expected<Recipe> recipe = parseRecipe(R"({"compress": {"fsdp": "bf16", "data": {"kind": "bf16"}}})", "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe)) << llvm::toString(recipe.takeError());
  ASSERT_EQ(recipe->compress.size(), 2u);
  EXPECT_EQ(recipe->compress[0].axis, "fsdp");
  EXPECT_EQ(recipe->compress[1].axis, "data");
  EXPECT_EQ(recipe->compress[1].setting, CompressionSetting{CompressionKind::BF16});
}

TEST(ParseRecipe, ReadsSizesOfCompression) {
  llvm::Expected<Recipe> recipe = parseRecipe(
      R"({"compress": {"a": "int8", "b": {"kind": "int8", "block": 64}, "c": {"kind": "powersgd", "rank": 2}, "d": {"kind": "top_k", "share": 0.1}}})",
      "r.json");
  ASSERT_TRUE(static_cast<bool>(recipe)) << llvm::toString(recipe.takeError());
  CompressionSetting byDefault{CompressionKind::Int8}, blocks{CompressionKind::Int8},
      factors{CompressionKind::PowerSGD}, largest{CompressionKind::TopK};
  blocks.block = 64;
  factors.rank = 2;
  largest.share = 0.1;
  EXPECT_EQ(recipe->compress[0].setting, byDefault);
  EXPECT_EQ(recipe->compress[1].setting, blocks);
  EXPECT_EQ(recipe->compress[2].setting, factors);
  EXPECT_EQ(recipe->compress[3].setting, largest);
}

TEST(ParseRecipe, RefusesOtherCompression) {
  EXPECT_EQ(errorOf(R"({"compress": "bf16"})"),
            "field 'compress' is \"bf16\"; expected an object with a kind for each axis, {\"data\": \"bf16\"}");
  EXPECT_EQ(errorOf(R"({"compress": {}})"),
            "field 'compress' is {}; expected an object with a kind for each axis, {\"data\": \"bf16\"}");
  EXPECT_EQ(errorOf(R"({"compress": {"data": "bf61"}})"), "field 'compress.data' is \"bf61\"; did you mean 'bf16'?");
  EXPECT_THAT(errorOf(R"({"compress": {"data": 8}})"),
              HasSubstr("field 'compress.data' is 8; expected one of bf16, int8, powersgd, top_k"));
  EXPECT_EQ(errorOf(R"({"compress": {"data": {"kind": "int8", "block": 4}}})"),
            "field 'compress.data.block' is 4; expected a whole number from 8 to 1048576");
  EXPECT_EQ(errorOf(R"({"compress": {"data": {"kind": "int8", "blok": 64}}})"),
            "field 'compress.data.blok' is unknown; did you mean 'block'?");
  EXPECT_EQ(errorOf(R"({"compress": {"data": {"kind": "powersgd", "rank": 65}}})"),
            "field 'compress.data.rank' is 65; expected a whole number from 1 to 64");
  EXPECT_EQ(
      errorOf(R"({"compress": {"data": {"kind": "top_k", "share": 0}}})"),
      "field 'compress.data.share' is 0; expected the part of the elements that is sent, above 0 and at most 0.5");
  EXPECT_THAT(errorOf(R"({"compress": {"data": {"kind": "int8", "share": 0.1}}})"),
              HasSubstr("field 'compress.data.share' is unknown"));
  EXPECT_THAT(errorOf(R"({"compress": {"data": {"block": 8}}})"), HasSubstr("field 'compress.data.kind' is missing"));
  EXPECT_THAT(errorOf(R"({"compress": {"data": {"kind": "bf16", "block": 8}}})"),
              HasSubstr("field 'compress.data.block' is unknown; the fields are kind"));
}

TEST(ParseRecipe, UnknownFieldsGetTheNearestName) {
  EXPECT_EQ(errorOf(R"({"msh": {}})"), "field 'msh' is unknown; did you mean 'mesh'?");
  EXPECT_EQ(errorOf(R"({"rules": [{"tensors": "a"}]})"), "field 'rules[0].tensors' is unknown; did you mean 'tensor'?");
  EXPECT_EQ(errorOf(R"({"xyzzy": 1})"),
            "field 'xyzzy' is unknown; the fields are annotations, mesh, sequential, stages, schedule, batch, "
            "replicate, rules, zero, compress, attention, memory_limit, offload, bucket_size_mb, accumulate, loss, "
            "train, precision, expect, $schema");
  EXPECT_EQ(errorOf(R"({"sequential": 8})"),
            "field 'sequential' is 8; expected an object with one axis and its size, {\"micro\": 8}");
  EXPECT_EQ(errorOf(R"({"sequential": {"micro": 0}})"),
            "field 'sequential.micro' is 0; expected a whole number from 1 to 1048576");
  EXPECT_EQ(errorOf(R"({"sequential": {"micro": 1048577}})"),
            "field 'sequential.micro' is 1048577; expected a whole number from 1 to 1048576");
  EXPECT_EQ(errorOf(R"({"train": 3})"),
            "field 'train' is 3; expected an object, {} for plain SGD on the model's own scalar output");
}

TEST(ParseRecipe, Stages) {
  llvm::Expected<Recipe> balanced = parseRecipe(R"({"stages": 4})", "r.json");
  ASSERT_TRUE(static_cast<bool>(balanced));
  EXPECT_EQ(balanced->stages->count, 4u);
  EXPECT_TRUE(balanced->stages->matches.empty());
  EXPECT_EQ(balanced->schedule, "");
  llvm::Expected<Recipe> matched =
      parseRecipe(R"({"stages": [{"match": "layer0*"}, {"match": "head"}], "schedule": "interleaved:2"})", "r.json");
  ASSERT_TRUE(static_cast<bool>(matched));
  EXPECT_THAT(matched->stages->matches, ElementsAre("layer0*", "head"));
  EXPECT_EQ(matched->schedule, "interleaved:2");
  EXPECT_TRUE(static_cast<bool>(parseRecipe(R"({"stages": 4, "schedule": "zero_bubble"})", "r.json")));
}

TEST(ParseRecipe, RefusesStages) {
  EXPECT_THAT(errorOf(R"({"stages": 0})"),
              HasSubstr("field 'stages' is 0; expected a whole number from 1 to 4096, or"));
  EXPECT_THAT(errorOf(R"({"stages": []})"), HasSubstr("field 'stages' is []"));
  EXPECT_EQ(errorOf(R"({"stages": ["a"]})"),
            "field 'stages[0]' is \"a\"; expected an object such as {\"match\": \"encoder/layer[0-2]*\"}");
  EXPECT_EQ(errorOf(R"({"stages": [{"mach": "a"}]})"), "field 'stages[0].mach' is unknown; did you mean 'match'?");
  EXPECT_EQ(errorOf(R"({"stages": [{}]})"), "field 'stages[0].match' is missing; expected a glob");
  EXPECT_EQ(errorOf(R"({"stages": [{"match": 1}]})"),
            "field 'stages[0].match' is 1; expected a glob, a string that is not empty");
  EXPECT_THAT(errorOf(R"({"stages": 2, "schedule": "1f2b"})"), HasSubstr("field 'schedule': '1f2b' is no schedule"));
  EXPECT_EQ(errorOf(R"({"schedule": "1f1b"})"),
            "field 'schedule' orders what stages do; expected a field 'stages' as well");
}

TEST(ParseRecipe, HostileTextsEndInOneLine) {
  EXPECT_EQ(errorOf(std::string(1000000, '[')), "nested more than 20 deep; expected fewer levels; correct the recipe");
  EXPECT_EQ(errorOf(R"({"zero": 1, "zero": 3})"),
            R"(ambiguous: an object has the field "zero" twice; expected each field once; correct the recipe)");
  EXPECT_LT(errorOf("{\"" + std::string(100000, 'x') + "\": 1, \"" + std::string(100000, 'x') + "\": 1}").size(), 300u);
  EXPECT_EQ(errorOf(R"({"mesh": {"a": 1e999}})"),
            "not JSON: a number is out of range; expected a smaller one; correct the recipe");
  EXPECT_THAT(errorOf("{\"batch\": \"\xff\"}"), HasSubstr("not JSON"));
  EXPECT_EQ(errorOf(""), "is empty; expected an object with the fields of a recipe");
  std::string longText = "{\"batch\": [" + std::string(100000, '1') + "]}";
  EXPECT_LT(errorOf(longText).size(), 300u);
}

TEST(FindNearestName, PrefersFewChanges) {
  EXPECT_EQ(findNearestName("dta", {"model", "data"}), "data");
  EXPECT_EQ(findNearestName("MESH", {"rules", "mesh"}), "mesh");
  EXPECT_EQ(findNearestName("frobnicate", {"rules", "mesh"}), "");
}

TEST(ParseRecipe, RefusesObjectsOfManyFields) {
  std::string text = "{\"k\": 1";
  for (int i = 0; i < 20000; ++i) text += ", \"k" + std::to_string(i) + "\": 1";
  EXPECT_EQ(errorOf(text + "}"),
            "too large: an object has more than 4096 fields; expected fewer fields; correct the recipe");
}

TEST(ParseRecipe, RefusesLongNumbers) {
  const std::string digits(309, '9');
  EXPECT_EQ(errorOf("{\"mesh\": {\"data\": " + digits + "}}"),
            "not JSON: a number is out of range; expected a smaller one; correct the recipe");
  EXPECT_EQ(errorOf("{\"zero\": " + digits.substr(1) + "}"), "field 'zero' is 1e+308; expected 0, 1, 2 or 3");
  EXPECT_EQ(errorOf("{\"bucket_size_mb\": 1e308}"),
            "field 'bucket_size_mb' is 1e+308; expected a positive number of megabytes");
}

}  // namespace
}  // namespace mlir::sgd
