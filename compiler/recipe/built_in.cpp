// Sizes of axes come from --mesh.
#include "compiler/recipe/built_in.h"

#include <nlohmann/json.hpp>

#include "compiler/recipe/recipe.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::sgd;
using llvm::StringRef;

static constexpr llvm::StringLiteral kBatch = "--batch ";
static constexpr llvm::StringLiteral kNames[] = {"ddp", "zero1", "zero2", "zero3", "pipeline:P"};
static constexpr unsigned kMostStages = 4096;

/// Micro-batches for each stage: a stage of P waits (P - 1) / (4 P + P - 1), less than a fifth of a step.
static constexpr unsigned kMicroPerStage = 4;

bool mlir::sgd::isRecipeFile(StringRef recipe) {
  return recipe == "-" || recipe.contains('/') || recipe.ends_with(".json");
}

std::string mlir::sgd::getBatchRecipe(StringRef axes) { return (kBatch + axes).str(); }

static llvm::Expected<std::string> getPipeline(StringRef stages, bool hasDataAxis) {
  unsigned count = 0;
  if (stages.getAsInteger(10, count) || count < 2 || count > kMostStages)
    return llvm::createStringError("--recipe pipeline:" + stages + ": expected a number of stages, 2 to " +
                                   llvm::Twine(kMostStages) + ", as in pipeline:4");
  nlohmann::ordered_json recipe = {{"stages", count}, {"sequential", {{"micro", kMicroPerStage * count}}}};
  if (hasDataAxis) recipe["batch"] = "data";
  return recipe.dump();
}

llvm::Expected<std::string> mlir::sgd::getBuiltInRecipe(StringRef name, bool hasDataAxis) {
  if (StringRef axes = name; axes.consume_front(kBatch)) {
    nlohmann::ordered_json batch = nlohmann::ordered_json::array();
    for (StringRef axis : llvm::split(axes, ',')) batch.push_back(axis.str());
    return nlohmann::ordered_json{{"batch", std::move(batch)}}.dump();
  }
  if (StringRef stages = name; stages.consume_front("pipeline:")) return getPipeline(stages, hasDataAxis);
  if (name == "ddp") return R"({"batch": "data"})";
  for (StringRef zero : {"zero1", "zero2", "zero3"})
    if (name == zero) return (R"({"batch": "data", "zero": )" + zero.take_back(1) + "}").str();
  StringRef nearest = findNearestName(name, llvm::SmallVector<StringRef>(std::begin(kNames), std::end(kNames)));
  std::string hint = nearest.empty() ? "there are " : ("did you mean '" + nearest + "'? There are ").str();
  return llvm::createStringError("--recipe " + name + ": there is no recipe of this name; " + hint +
                                 llvm::join(llvm::ArrayRef(kNames), ", ") +
                                 "; the path of a file has a / in it or ends in .json");
}
