// Recipes of candidates, which recipes' own reader takes.
#include "compiler/auto_sharding/candidate.h"

#include "compiler/recipe/recipe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;

namespace {

/// Two layers of up and down, and an input with positions.
StepFacts makeLayerFacts() {
  StepFacts facts;
  facts.names = {"params.h0.up", "params.h1.up", "params.h0.down", "params.h1.down", "opt.h0.up", "x", "mask"};
  facts.shapes = {{8, 32}, {8, 32}, {32, 8}, {32, 8}, {8, 32}, {16, 4}, {3, 4}};
  facts.batch = {5};
  facts.others = {6};
  facts.rows = 16;
  facts.groups = {{{{0, 1}, {1, 1}, {2, 0}, {3, 0}}, 32, 4096, "params.h*.up:1"}, {{{5, 1}}, 4, 0, "x:1"}};
  return facts;
}

Candidate make(const StepFacts& facts, SearchMesh mesh, std::vector<GroupAxis> groups = {}) {
  Candidate candidate;
  candidate.mesh = mesh;
  candidate.groups = groups.empty() ? std::vector<GroupAxis>(facts.groups.size(), GroupAxis::None) : groups;
  return candidate;
}

TEST(Candidate, RecipeHasOneRuleForAllLayers) {
  StepFacts facts = makeLayerFacts();
  Candidate candidate = make(facts, {4, 2, 1}, {GroupAxis::Model, GroupAxis::Model});
  candidate.zero = 1;
  EXPECT_EQ(writeRecipe(candidate, facts), R"({
  "mesh": {"data": 4, "model": 2},
  "batch": "data",
  "zero": 1,
  "rules": [
    {"tensor": "params.h*.up", "sharding": [null, "model"]},
    {"tensor": "params.h*.down", "sharding": ["model", null]},
    {"tensor": "x", "sharding": ["data", "model"]},
    {"tensor": "mask", "sharding": [null, null]}
  ]
}
)");
  EXPECT_EQ(describe(candidate, facts), "data 4 x model 2, zero 1; model: params.h*.up:1 x:1");
}

TEST(Candidate, IsDescribedInWords) {
  StepFacts facts = makeLayerFacts();
  EXPECT_EQ(describeInWords(make(facts, {1, 1, 1}), facts), "one rank");
  Candidate candidate = make(facts, {4, 2, 1}, {GroupAxis::Model, GroupAxis::None});
  candidate.zero = 3;
  EXPECT_EQ(describeInWords(candidate, facts),
            "data parallelism over 4 ranks, with parameters, gradients and optimizer state sharded over them (ZeRO 3), "
            "and tensor parallelism over 2 ranks (params.h*.up by dimension 1)");
  EXPECT_EQ(getComplexity(candidate), 3u);
  Candidate stages = make(facts, {1, 1, 2});
  stages.micro = 4;
  stages.schedule = "1f1b";
  stages.memoryLimit = 1;
  EXPECT_EQ(
      describeInWords(stages, facts),
      "a pipeline of 2 stages by the schedule 1f1b, and a batch cut into 4 micro-batches; values are computed again "
      "to keep the memory limit");
  EXPECT_GT(getComplexity(stages), getComplexity(candidate));
  Candidate written;
  written.asWritten = {{"x", 4}};
  EXPECT_EQ(describeInWords(written, facts), "the program's own annotations, on a mesh of x 4");
  EXPECT_EQ(getComplexity(written), 0u);
}

TEST(Candidate, RecipeKeepsGivenFields) {
  StepFacts facts = makeLayerFacts();
  facts.given = {{"train", R"({"optimizer":"adamw"})"}};
  EXPECT_EQ(writeRecipe(make(facts, {2, 1, 1}), facts), R"({
  "train": {"optimizer":"adamw"},
  "mesh": {"data": 2},
  "batch": "data",
  "rules": [
    {"tensor": "mask", "sharding": [null, null]}
  ]
}
)");
}

// The batch is cut, and the mask is not of it.
TEST(Candidate, OtherInputsAreWholeInEachPartOfTheBatch) {
  StepFacts facts = makeLayerFacts();
  Candidate candidate = make(facts, {1, 1, 2});
  candidate.micro = 4;
  EXPECT_EQ(writeRecipe(candidate, facts), R"({
  "mesh": {"data": 1},
  "rules": [
    {"tensor": "mask", "sharding": [null, null]}
  ],
  "stages": 2,
  "sequential": {"micro": 4}
}
)");
  facts.others.clear();
  EXPECT_EQ(writeRecipe(candidate, facts), "{\n  \"stages\": 2,\n  \"sequential\": {\"micro\": 4}\n}\n");
}

TEST(Candidate, NamesThatAGlobWouldMatchTooAreListed) {
  StepFacts facts = makeLayerFacts();
  facts.names.push_back("params.h2.up");
  facts.shapes.push_back({8, 5});
  std::string recipe = writeRecipe(make(facts, {1, 2, 1}, {GroupAxis::Model, GroupAxis::None}), facts);
  EXPECT_THAT(recipe, testing::HasSubstr(R"({"tensor": "params.h0.up", "sharding": [null, "model"]})"));
  EXPECT_THAT(recipe, testing::HasSubstr(R"({"tensor": "params.h*.down", "sharding": ["model", null]})"));
}

TEST(Candidate, OfAnAxisATensorHasOneDimension) {
  StepFacts facts = makeLayerFacts();
  facts.groups.push_back({{{0, 0}, {1, 0}}, 8, 512, "params.h*.up:0"});
  std::string recipe =
      writeRecipe(make(facts, {2, 2, 1}, {GroupAxis::Model, GroupAxis::None, GroupAxis::Model}), facts);
  EXPECT_THAT(recipe, testing::HasSubstr(R"("params.h*.up", "sharding": [null, "model"])"));
  recipe = writeRecipe(make(facts, {2, 2, 1}, {GroupAxis::Model, GroupAxis::None, GroupAxis::Data}), facts);
  EXPECT_THAT(recipe, testing::HasSubstr(R"("params.h*.up", "sharding": ["data", "model"])"));
}

// Time that grows with arguments, not with their square.
TEST(Candidate, ManyArgumentsTakeAMoment) {
  StepFacts facts;
  facts.groups = {{{}, 8, 1, "w*:1"}};
  for (unsigned argument = 0; argument < 200000; ++argument) {
    facts.names.push_back("w" + std::to_string(argument));
    facts.shapes.push_back({8, 8});
    facts.groups.front().members.push_back({argument, 1});
  }
  std::string recipe = writeRecipe(make(facts, {1, 2, 1}, {GroupAxis::Model}), facts);
  EXPECT_THAT(recipe, testing::HasSubstr(R"([
    {"tensor": "w*", "sharding": [null, "model"]}
  ])"));
}

TEST(Candidate, EveryRecipeIsRead) {
  StepFacts facts = makeLayerFacts();
  facts.names[0] = "a\"b*[c";
  for (SearchMesh mesh : getMeshes(8))
    for (GroupAxis axis : {GroupAxis::None, GroupAxis::Data, GroupAxis::Model})
      for (bool isAnnotated : {false, true}) {
        facts.isAnnotated = isAnnotated;
        Candidate candidate = make(facts, mesh, {axis, GroupAxis::None});
        candidate.micro = 2;
        candidate.schedule = mesh.stages > 1 ? "interleaved:2" : "";
        candidate.memoryLimit = 1 << 20;
        if (!isSensible(candidate, facts)) continue;
        llvm::Expected<Recipe> recipe = parseRecipe(writeRecipe(candidate, facts), "r.json");
        ASSERT_TRUE(bool(recipe)) << writeRecipe(candidate, facts) << llvm::toString(recipe.takeError());
        EXPECT_EQ(recipe->keepsAnnotations, !isAnnotated);
        EXPECT_EQ(recipe->memoryLimit, uint64_t(1) << 20);
      }
}

TEST(Candidate, WhatIsWrittenIsKept) {
  StepFacts facts = makeLayerFacts();
  facts.isAnnotated = true;
  Candidate candidate = make(facts, {});
  candidate.asWritten = std::vector<MeshAxisSize>{{"x", 2}, {"y", 4}};
  EXPECT_EQ(writeRecipe(candidate, facts), "{\n  \"mesh\": {\"x\": 2, \"y\": 4}\n}\n");
  EXPECT_EQ(describe(candidate, facts), "as written, x 2 x y 4");
}

TEST(Candidate, AxesHaveSomethingToShare) {
  StepFacts facts = makeLayerFacts();
  EXPECT_TRUE(isSensible(make(facts, {8, 1, 1}), facts));
  EXPECT_TRUE(isSensible(make(facts, {15, 1, 1}), facts)) << "16 rows, most ranks have padding";
  EXPECT_FALSE(isSensible(make(facts, {1, 3, 1}, {GroupAxis::None, GroupAxis::Model}), facts))
      << "4 positions in parts of 2 are 6";
  EXPECT_FALSE(isSensible(make(facts, {32, 1, 1}), facts)) << "more ranks than rows";
  EXPECT_FALSE(isSensible(make(facts, {4, 2, 1}), facts)) << "nothing is on the model axis";
  EXPECT_FALSE(isSensible(make(facts, {1, 8, 1}, {GroupAxis::None, GroupAxis::Model}), facts)) << "four positions";
  Candidate micro = make(facts, {8, 1, 1});
  micro.micro = 4;
  EXPECT_FALSE(isSensible(micro, facts)) << "two rows in four parts";
}

}  // namespace
