// The search against costs that are made up.
#include "compiler/auto_sharding/search.h"

#include "compiler/auto_sharding/neighbours.h"
#include "compiler/recipe/recipe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;

namespace {

StepFacts makeFacts() {
  StepFacts facts;
  facts.names = {"up", "down", "x"};
  facts.shapes = {{64, 64}, {64, 64}, {64, 16}};
  facts.batch = {2};
  facts.rows = 64;
  facts.groups = {{{{0, 1}, {1, 0}}, 64, 32768, "up:1"}, {{{0, 0}, {1, 1}}, 64, 32768, "up:0"}};
  return facts;
}

/// Computing is shared; each axis costs what the case says.
struct Costs {
  double data = 0, model = 0, stage = 0;
  uint64_t bytes = 1000;  ///< of one rank, shared by zero 3 and by axes of tensors
  double caches = 1;      ///< how much faster a step would be in caches
  int calls = 0;

  std::vector<Evaluation> evaluate(llvm::ArrayRef<std::string> recipes) {
    std::vector<Evaluation> evaluations;
    for (const std::string& text : recipes) {
      ++calls;
      Recipe recipe = llvm::cantFail(parseRecipe(text, "r.json"));
      double axes[2] = {1, 1};
      for (const MeshAxisSize& axis : recipe.mesh) axes[axis.name == "model"] = static_cast<double>(axis.size);
      double stages = recipe.stages ? recipe.stages->count : 1;
      Evaluation& evaluation = evaluations.emplace_back();
      evaluation.seconds = 1 / (axes[0] * axes[1] * stages) + data * (axes[0] - 1) + model * (axes[1] - 1) +
                           stage * (stages - 1) + (recipe.zero == 3 ? 1e-3 : 0) + (recipe.memoryLimit ? 0.01 : 0);
      evaluation.leastSeconds = evaluation.seconds / caches;
      evaluation.peakBytes = static_cast<uint64_t>(static_cast<double>(bytes) / axes[1] / stages);
      if (recipe.zero == 3) evaluation.peakBytes = static_cast<uint64_t>(evaluation.peakBytes / axes[0]);
      if (recipe.memoryLimit)
        evaluation.peakBytes = std::clamp<uint64_t>(*recipe.memoryLimit * 9 / 8, 20, evaluation.peakBytes);
    }
    return evaluations;
  }
};

SearchResult run(Costs& costs, uint64_t limit = 1 << 20, unsigned most = 200) {
  StepFacts facts = makeFacts();
  return search(facts, {8, most, limit}, [&](llvm::ArrayRef<std::string> recipes) { return costs.evaluate(recipes); });
}

const Candidate& bestOf(const SearchResult& result) { return result.trials[*result.best].candidate; }

/// Tensor parallelism takes `share` of what data parallelism does.
SearchResult runWithFasterTensors(double share) {
  StepFacts facts = makeFacts();
  return search(facts, {8, 200, 1 << 20}, [&](llvm::ArrayRef<std::string> recipes) {
    std::vector<Evaluation> evaluations;
    for (const std::string& text : recipes) {
      Recipe recipe = llvm::cantFail(parseRecipe(text, "r.json"));
      int64_t ranks = recipe.stages ? recipe.stages->count : 1;
      for (const MeshAxisSize& axis : recipe.mesh) ranks *= axis.size;
      bool hasModel = llvm::any_of(recipe.mesh, [](const MeshAxisSize& axis) { return axis.name == "model"; });
      Evaluation& evaluation = evaluations.emplace_back();
      evaluation.seconds = (recipe.stages ? 2.0 : hasModel ? share : 1.0) / static_cast<double>(ranks);
      evaluation.leastSeconds = evaluation.seconds / 2;
      evaluation.peakBytes = recipe.zero > 0 ? 90 : 100;
    }
    return evaluations;
  });
}

TEST(Search, ASimplerRecipeIsWorthThreePercent) {
  SearchResult close = runWithFasterTensors(0.98), far = runWithFasterTensors(0.95);
  EXPECT_EQ(bestOf(close).mesh, (SearchMesh{8, 1, 1}));
  EXPECT_EQ(bestOf(close).zero, 0) << "less memory is no reason either";
  EXPECT_EQ(getComplexity(bestOf(close)), 0u);
  EXPECT_GT(close.trials[*close.fastest].candidate.mesh.model, 1);
  EXPECT_LT(close.trials[*close.fastest].evaluation.seconds, close.trials[*close.best].evaluation.seconds);
  EXPECT_GT(bestOf(far).mesh.model, 1);
}

TEST(Search, TakesTheAxisThatCostsLeast) {
  Costs data{.data = 1e-4, .model = 1e-2, .stage = 1e-2}, model{.data = 1e-2, .model = 1e-4, .stage = 1e-2};
  EXPECT_EQ(bestOf(run(data)).mesh, (SearchMesh{8, 1, 1}));
  EXPECT_EQ(bestOf(run(model)).mesh, (SearchMesh{1, 8, 1}));
}

TEST(Search, FindsMixedMeshes) {
  // The least of 1e-2 (d - 1) + 1.2e-2 (m - 1) with d m = 8 is at 4 x 2.
  Costs costs{.data = 1e-2, .model = 1.2e-2, .stage = 1};
  EXPECT_EQ(bestOf(run(costs)).mesh, (SearchMesh{4, 2, 1}));
}

TEST(Search, KeepsTheLimit) {
  Costs costs{.data = 1e-4, .model = 1e-2, .stage = 1e-2};
  SearchResult result = run(costs, /*limit=*/200);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(bestOf(result).zero, 3);
  EXPECT_LE(result.trials[*result.best].evaluation.peakBytes, 200u);
  bool triesAgain =
      llvm::any_of(result.trials, [](const Trial& trial) { return trial.candidate.memoryLimit.has_value(); });
  EXPECT_TRUE(triesAgain) << "plans within the limit, of what is faster without it";
  EXPECT_FALSE(run(costs, /*limit=*/2).best);
}

// Even where the model says that parts are faster; and where memory is short, they are tried.
TEST(Search, PartsOfTheBatchAreForMemory) {
  Costs costs{.data = 1e-3, .model = 1, .stage = 1, .caches = 4};
  auto triesParts = [&](uint64_t limit) {
    SearchResult result = search(makeFacts(), {8, 200, limit}, [&](llvm::ArrayRef<std::string> recipes) {
      std::vector<Evaluation> evaluations = costs.evaluate(recipes);
      for (auto [evaluation, text] : llvm::zip(evaluations, recipes))
        if (llvm::StringRef(text).contains("sequential")) evaluation.seconds *= 0.9, evaluation.peakBytes /= 2;
      return evaluations;
    });
    return llvm::any_of(result.trials, [](const Trial& trial) {
      return trial.candidate.mesh.stages == 1 && trial.candidate.micro > 1;
    });
  };
  EXPECT_FALSE(triesParts(1 << 20));
  EXPECT_TRUE(triesParts(100));
}

TEST(Search, EvaluatesNothingTwiceAndNoMoreThanAsked) {
  for (unsigned most : {1u, 5u, 20u, 200u}) {
    Costs costs{.data = 1e-3, .model = 1e-3, .stage = 1e-3};
    SearchResult result = run(costs, 1 << 20, most);
    EXPECT_EQ(static_cast<unsigned>(costs.calls), result.numEvaluations);
    EXPECT_LE(result.numEvaluations, most);
    std::set<std::string> recipes;
    for (const Trial& trial : result.trials) EXPECT_TRUE(recipes.insert(trial.recipe).second) << trial.recipe;
  }
}

TEST(Search, EndsWhereComputingIsAll) {
  Costs costs;
  SearchResult result = run(costs);
  EXPECT_TRUE(result.isComplete);
  EXPECT_LT(result.numEvaluations, 40u);
}

// Shards of 4 x 2 ranks are in caches: the step takes less than an eighth of one rank's, as others do too.
TEST(Search, GoesOnWhereRanksAreFasterThanTheirShareOfOne) {
  Costs costs{.caches = 4};
  StepFacts facts = makeFacts();
  SearchResult result = search(facts, {8, 200, 1 << 20}, [&](llvm::ArrayRef<std::string> recipes) {
    std::vector<Evaluation> evaluations = costs.evaluate(recipes);
    for (auto [evaluation, text] : llvm::zip(evaluations, recipes)) {
      if (llvm::StringRef(text).contains("\"data\": 8")) evaluation.seconds = 0.12;
      if (llvm::StringRef(text).contains("\"data\": 4, \"model\": 2")) evaluation.seconds = 0.05;
    }
    return evaluations;
  });
  EXPECT_EQ(bestOf(result).mesh, (SearchMesh{4, 2, 1}));
}

/// A text with shardings over axes a0, a1, ...
StepFacts makeAnnotated(size_t numAxes) {
  StepFacts facts = makeFacts();
  facts.isAnnotated = true;
  for (size_t axis = 0; axis < numAxes; ++axis) facts.ownMesh.push_back({"a" + std::to_string(axis), 1});
  return facts;
}

// There are 364 meshes of 12 axes, all of them slow.
TEST(Search, MeshesOfTheTextLeaveEvaluationsForOthers) {
  Costs costs{.data = 1e-2, .model = 1.2e-2, .stage = 1};
  StepFacts facts = makeAnnotated(12);
  SearchResult result = search(facts, {8, 200, 1 << 20}, [&](llvm::ArrayRef<std::string> recipes) {
    std::vector<Evaluation> evaluations = costs.evaluate(recipes);
    for (auto [evaluation, text] : llvm::zip(evaluations, recipes))
      if (llvm::StringRef(text).contains("\"a0\"")) evaluation.seconds = 10;
    return evaluations;
  });
  EXPECT_EQ(bestOf(result).mesh, (SearchMesh{4, 2, 1}));
  EXPECT_TRUE(result.isComplete);
}

/// Its own annotations are best on a mesh of 4 x 4 x 4 x 1 x 1; nothing else is any good.
std::vector<Evaluation> evaluateWritten(llvm::ArrayRef<std::string> recipes, uint64_t bytes) {
  std::vector<Evaluation> evaluations;
  for (const std::string& text : recipes) {
    Recipe recipe = llvm::cantFail(parseRecipe(text, "r.json"));
    Evaluation& evaluation = evaluations.emplace_back();
    evaluation.seconds = evaluation.leastSeconds = 100;
    evaluation.peakBytes = recipe.memoryLimit ? *recipe.memoryLimit : bytes;
    if (!recipe.keepsAnnotations) continue;
    evaluation.seconds = recipe.memoryLimit ? 2 : 1;
    for (auto [axis, best] : llvm::zip(recipe.mesh, std::vector<int64_t>{4, 4, 4, 1, 1}))
      evaluation.seconds += std::abs(std::log2(static_cast<double>(axis.size) / static_cast<double>(best)));
  }
  return evaluations;
}

TEST(Search, DescendsOverMeshesOfTheText) {
  StepFacts facts = makeAnnotated(5);
  SearchResult result = search(facts, {64, 200, 1 << 20}, [](llvm::ArrayRef<std::string> recipes) {
    return evaluateWritten(recipes, /*bytes=*/1000);
  });
  EXPECT_EQ(result.trials[*result.best].evaluation.seconds, 1);
}

TEST(Search, TheTextsAnnotationsKeepTheLimitToo) {
  StepFacts facts = makeAnnotated(5);
  SearchResult result = search(facts, {64, 200, 500}, [](llvm::ArrayRef<std::string> recipes) {
    return evaluateWritten(recipes, /*bytes=*/1000);
  });
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(bestOf(result).asWritten && bestOf(result).memoryLimit);
}

TEST(Search, RefusedCandidatesAreKept) {
  StepFacts facts = makeFacts();
  SearchResult result = search(facts, {8, 50, 1 << 20}, [](llvm::ArrayRef<std::string> recipes) {
    Evaluation refused;
    refused.refusal = "no";
    return std::vector<Evaluation>(recipes.size(), refused);
  });
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(result.trials.empty());
}

TEST(Search, BoundsOfPipelinesCountWaits) {
  StepFacts facts = makeFacts();
  Candidate candidate = getOneRank(facts);
  EXPECT_DOUBLE_EQ(getBound(candidate, facts, 1), 1);
  candidate.mesh = {2, 1, 4};
  candidate.micro = 4;
  EXPECT_DOUBLE_EQ(getBound(candidate, facts, 1), 1.0 / 8 * (1 + 3.0 / 12));
  candidate.schedule = "zero_bubble";
  EXPECT_DOUBLE_EQ(getBound(candidate, facts, 1), 1.0 / 8);
}

}  // namespace
