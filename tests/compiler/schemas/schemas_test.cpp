// docs/schemas and the parsers of recipes and topologies accept the same files: all of this repository, one that has
// every field, and each of them with every value replaced, every field removed and an unknown field added.
#include <filesystem>
#include <functional>

#include "compiler/recipe/recipe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/cost/topology.h"
#include "tests/compiler/schemas/json_schema.h"

namespace mlir::sgd {
namespace {

using ::testing::UnorderedElementsAreArray;

/// Empty if the text is accepted.
using Parser = std::function<std::string(const std::string& text)>;

std::string parseAsRecipe(const std::string& text) {
  llvm::Expected<Recipe> recipe = parseRecipe(text, "r.json");
  return recipe ? "" : llvm::toString(recipe.takeError());
}

std::string parseAsTopology(const std::string& text) {
  llvm::Expected<Topology> topology = parseTopology(text, "t.json");
  return topology ? "" : llvm::toString(topology.takeError());
}

Json getFullRecipe() {
  return Json::parse(R"({
    "$schema": "recipe.schema.json", "annotations": "ignore", "mesh": {"data": 4, "model": 2}, "sequential": {"micro": 8},
    "stages": [{"match": "a*"}, {"match": "b*"}], "schedule": "interleaved:2", "batch": ["data", "model"], "replicate": ["embed*"],
    "rules": [{"tensor": "*.kernel", "sharding": [null, "model", ["data", "model"], "?"]}, {"scope": "mlp", "sharding": []},
              {"tensor": "x", "batch": 1}, {"tensor": "y", "batch": null}],
    "zero": 3, "compress": {"data": "bf16", "model": {"kind": "int8", "block": 64}, "a": {"kind": "powersgd", "rank": 2}, "b": {"kind": "top_k", "share": 0.1}},
    "attention": "ring", "memory_limit": "16GiB", "offload": "auto", "bucket_size_mb": 25, "accumulate": {"type": "f32", "as": "whole"}, "loss": "result.loss",
    "train": {"loss": {"kind": "softmax_cross_entropy", "logits": "l", "labels": "y", "smoothing": 0.1, "soft_labels": false, "ignore_index": 0},
              "metrics": ["accuracy"], "clip_global_norm": 1, "clip_value": 2, "parameters": ["*"], "ema": 0.9, "batch_norm": {"kind": "per_rank", "scopes": ["bn*"]},
              "optimizer": {"kind": "adamw", "learning_rate": 1, "weight_decay": 0.1, "betas": [0.9, 0.99], "eps": 1e-8, "no_decay": ["*.bias"],
                            "groups": [{"match": ["a"], "kind": "sgd", "momentum": 0.9, "nesterov": true}, {"match": ["b"], "kind": "lars", "trust": 0.1},
                                       {"match": ["c"], "kind": "adafactor", "beta2_decay": -0.5, "min_scale": 0.1, "clip_threshold": 2},
                                       {"match": ["d"], "kind": "muon", "match_rms_adamw": true}]},
              "schedule": {"kind": "linear_warmup_polynomial", "warmup": 1, "steps": 10, "end": 0.1, "power": 2}},
    "precision": {"compute": "bf16", "reduce": "own", "loss_scale": "dynamic", "scopes": {"norm": "f32"}},
    "expect": [{"collective": "all_gather", "axis": "model", "scope": "a*", "bytes": 0}, {"replicated": "*", "axis": "data", "bytes": "1.5kB"}, {"sent_bytes": 5}, {"peak": "1GiB"}]
  })",
                     nullptr, /*allow_exceptions=*/false);
}

/// Recipes whose fields exclude those of the full one.
std::vector<Json> getFurtherRecipes() {
  std::vector<Json> recipes;
  for (
      const char* text :
      {R"({"sequential": {"m": 2}, "accumulate": {"type": "own", "as": "shards"}, "zero": 0})",
       R"({"stages": 4, "schedule": "1f1b:2"})",
       R"({"train": {"optimizer": "adam", "loss": "l", "schedule": "constant", "batch_norm": "global"}, "precision": {"loss_scale": 8}})",
       R"({"train": {"optimizer": {"kind": "sgd", "momentum": 0.9, "nesterov": true}, "schedule": {"kind": "one_cycle", "steps": 9, "start": 0.1}}})",
       R"({"train": {"optimizer": {"kind": "lion", "betas": [0, 0.5]}, "schedule": {"kind": "step", "every": 3, "gamma": 0.5}}})",
       R"({"train": {"loss": {"kind": "next_token", "smoothing": 0.1}, "schedule": {"kind": "inverse_sqrt", "warmup": 3}}})",
       R"({"train": {"loss": {"kind": "mse"}, "batch_norm": {"kind": "global"}}})"})
    recipes.push_back(Json::parse(text, nullptr, /*allow_exceptions=*/false));
  return recipes;
}

Json getFullTopology() {
  return Json::parse(R"({
    "$schema": "topology.schema.json", "name": "t",
    "device": {"flops": 1e12, "half_flops": 2e12, "attention_flops": 1e12, "vector_flops": 1e11, "divisions": 1e9, "transcendentals": 1e9, "packed_elements": 1e9,
               "memory_bandwidth": 1e12, "cache_bandwidth": 2e12, "cache_bytes": 1000, "launch_latency": 0, "memory_bytes": 1000000, "architecture": "sm_90",
               "peak_flops": 1e13, "peak_half_flops": 1e13, "storage_bandwidth": 1e9, "price_per_hour": 2, "host_bandwidth": 0},
    "links": [{"name": "a", "ranks": 8, "latency": 1e-6, "bandwidth": 1e11, "algorithms": ["ring", "tree", "switch"], "nics": 1, "startup": 0, "protocols": {"ll128": 1e-6, "ll": 1e-6}},
              {"name": "b", "ranks": 0, "latency": 1e-6, "bandwidth": 1e10, "algorithms": ["direct"], "shared_by": 1, "oversubscription": 2, "rails": true}]
  })",
                     nullptr, /*allow_exceptions=*/false);
}

/// All JSON files of the repository that are objects with at least one of the fields, and no other field.
std::vector<std::pair<std::string, Json>> findFiles(const Json& fields, const std::string& required) {
  std::vector<std::pair<std::string, Json>> found;
  for (const char* folder : {"examples", "tests/expect", "tests/fuzz", "passes", "docs"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(SGD_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() != ".json") continue;
      Json json = readJsonFile(entry.path());
      if (!json.is_object() || json.empty() || (!required.empty() && !json.contains(required))) continue;
      auto isField = [&](const auto& item) { return fields.contains(item.key()); };
      if (llvm::all_of(json.items(), isField)) found.emplace_back(entry.path(), std::move(json));
    }
  return found;
}

/// Calls `visit` with the path of `value` and of all values in it.
void walk(const Json& value, const Json::json_pointer& path,
          const std::function<void(const Json::json_pointer&)>& visit) {
  visit(path);
  if (value.is_object())
    for (const auto& [name, field] : value.items()) walk(field, path / name, visit);
  if (value.is_array())
    for (size_t index = 0; index < value.size(); ++index) walk(value[index], path / index, visit);
}

/// Relations between fields that only the parsers check.
bool isBeyondSchemas(const std::string& error) {
  for (const char* text : {"above 'warmup'", "'momentum' above 0", "has no meaning for", "which joins all ranks",
                           "that the link before joins"})
    if (error.find(text) != std::string::npos) return true;
  return false;
}

void compare(const JsonSchema& schema, const Parser& parse, const Json& value, const Json::json_pointer& path) {
  const std::string error = parse(value.dump());
  if (schema.accepts(value) == error.empty() || (schema.accepts(value) && isBeyondSchemas(error))) return;
  ADD_FAILURE() << path.to_string() << ": the schema " << (schema.accepts(value) ? "accepts" : "refuses")
                << " it, the parser says '" << error << "':\n"
                << value.dump();
}

void compareVariants(const JsonSchema& schema, const Parser& parse, const Json& value) {
  const Json others = Json::parse(R"([null, true, 0, -1, 1.5, "", "?", "x", "1MB", [], ["x", "x"], [0.5, 1], {}])");
  walk(value, Json::json_pointer(), [&](const Json::json_pointer& path) {
    for (const Json& other : others) {
      Json changed = value;
      changed[path] = other;
      compare(schema, parse, changed, path);
    }
    if (value[path].is_object()) {
      Json more = value;
      more[path]["unknown"] = 1;
      compare(schema, parse, more, path);
    }
    if (path.empty()) return;
    Json less = value;
    Json& parent = less[path.parent_pointer()];
    if (!parent.is_object()) return;
    parent.erase(path.back());
    compare(schema, parse, less, path);
  });
}

TEST(RecipeSchema, AcceptsAsTheParserDoes) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/recipe.schema.json"));
  EXPECT_EQ(parseAsRecipe(getFullRecipe().dump()), "");
  EXPECT_TRUE(schema.accepts(getFullRecipe()));
  // In two parts, since each variant is parsed from text.
  std::vector<Json> recipes = getFurtherRecipes();
  recipes.push_back(getFullRecipe());
  Json& training = recipes.emplace_back();
  for (const char* field : {"train", "precision"}) {
    training[field] = getFullRecipe()[field];
    recipes[recipes.size() - 2].erase(field);
  }
  for (const Json& recipe : recipes) {
    EXPECT_EQ(parseAsRecipe(recipe.dump()), "");
    EXPECT_TRUE(schema.accepts(recipe)) << recipe.dump();
    compareVariants(schema, parseAsRecipe, recipe);
  }
}

TEST(RecipeSchema, AcceptsAllRecipesOfTheRepository) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/recipe.schema.json"));
  const auto recipes = findFiles(schema.at("/properties"), "");
  EXPECT_GE(recipes.size(), 35u);
  for (const auto& [path, recipe] : recipes) {
    EXPECT_TRUE(schema.accepts(recipe)) << path;
    EXPECT_EQ(parseAsRecipe(recipe.dump()), "") << path;
  }
}

TEST(TopologySchema, AcceptsAsTheParserDoes) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/topology.schema.json"));
  EXPECT_EQ(parseAsTopology(getFullTopology().dump()), "");
  EXPECT_TRUE(schema.accepts(getFullTopology()));
  compareVariants(schema, parseAsTopology, getFullTopology());
}

TEST(TopologySchema, AcceptsAllTopologiesOfTheRepository) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/topology.schema.json"));
  const auto topologies = findFiles(schema.at("/properties"), "device");
  EXPECT_GE(topologies.size(), 3u);
  for (const auto& [path, topology] : topologies) {
    EXPECT_TRUE(schema.accepts(topology)) << path;
    EXPECT_EQ(parseAsTopology(topology.dump()), "") << path;
  }
}

/// The names that a parser lists for an unknown field at the end of its message.
std::vector<std::string> getListed(const std::string& error, const std::string& before) {
  llvm::StringRef list = llvm::StringRef(error).split(before).second.split(';').first;
  std::vector<std::string> names;
  for (llvm::StringRef name : llvm::split(list, ',')) names.push_back(name.trim().str());
  return names;
}

std::vector<std::string> getNames(const Json& properties) {
  std::vector<std::string> names;
  for (const auto& item : properties.items()) names.push_back(item.key());
  return names;
}

/// Objects of a file, each with a field that nobody knows, and the schema that lists the fields that are known.
TEST(RecipeSchema, HasTheFieldsOfTheParser) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/recipe.schema.json"));
  for (auto [text, pointer] :
       {std::pair(R"({"00000": 1})", ""), std::pair(R"({"rules": [{"00000": 1}]})", "/$defs/rule"),
        std::pair(R"({"train": {"00000": 1}})", "/$defs/train"),
        std::pair(R"({"train": {"loss": {"kind": "mse", "00000": 1}}})", "/$defs/loss"),
        std::pair(R"({"train": {"optimizer": {"kind": "sgd", "00000": 1}}})", "/$defs/optimizer"),
        std::pair(R"({"train": {"optimizer": {"kind": "sgd", "groups": [{"match": ["a"], "00000": 1}]}}})",
                  "/$defs/group"),
        std::pair(R"({"train": {"schedule": {"kind": "constant", "00000": 1}}})", "/$defs/rate_schedule"),
        std::pair(R"({"train": {"batch_norm": {"kind": "global", "00000": 1}}})", "/$defs/batch_norm"),
        std::pair(R"({"train": {}, "precision": {"00000": 1}})", "/$defs/precision")}) {
    EXPECT_THAT(getNames(schema.at(std::string(pointer) + "/properties")),
                UnorderedElementsAreArray(getListed(parseAsRecipe(text), "is unknown; the fields are ")))
        << text;
  }
}

TEST(TopologySchema, HasTheFieldsOfTheParser) {
  const JsonSchema schema(readJsonFile(SGD_SOURCE_DIR "/docs/schemas/topology.schema.json"));
  for (auto [path, pointer] :
       {std::pair("", ""), std::pair("/device", "/$defs/device"), std::pair("/links/1", "/$defs/link"),
        std::pair("/links/0/protocols", "/$defs/link/properties/protocols")}) {
    Json topology = getFullTopology();
    topology[Json::json_pointer(path)]["00000"] = 1;
    EXPECT_THAT(getNames(schema.at(std::string(pointer) + "/properties")),
                UnorderedElementsAreArray(getListed(parseAsTopology(topology.dump()), "is unknown; expected one of ")))
        << path;
  }
}

}  // namespace
}  // namespace mlir::sgd
