// The stages of a pipeline and their schedule.
#include "compiler/recipe/recipe.h"
#include "compiler/recipe/recipe_json.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/time/stages/pipeline_schedule.h"

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

static llvm::Expected<std::vector<std::string>> readMatches(const Json& list) {
  std::vector<std::string> matches;
  for (auto [index, stage] : llvm::enumerate(list)) {
    std::string path = "stages[" + std::to_string(index) + "]";
    if (!stage.is_object())
      return fail("field '" + path + "' is " + ShowJson(stage) +
                  "; expected an object such as {\"match\": \"encoder/layer[0-2]*\"}");
    if (Error error = checkFieldNames(stage, path + ".", {"match"})) return std::move(error);
    auto match = stage.find("match");
    if (match == stage.end()) return fail("field '" + path + ".match' is missing; expected a glob");
    if (!match->is_string() || *match == "")
      return fail("field '" + path + ".match' is " + ShowJson(*match) +
                  "; expected a glob, a string that is not empty");
    matches.push_back(match->get<std::string>());
  }
  return matches;
}

llvm::Expected<RecipeStages> mlir::sgd::readStages(const Json& value) {
  RecipeStages stages;
  if (value.is_array() && !value.empty() && value.size() <= kMaxStages) {
    llvm::Expected<std::vector<std::string>> matches = readMatches(value);
    if (!matches) return matches.takeError();
    stages.matches = std::move(*matches);
    stages.count = static_cast<unsigned>(stages.matches.size());
    return stages;
  }
  std::optional<int64_t> count = getInteger(value);
  if (!count || *count < 1 || *count > kMaxStages)
    return fail("field 'stages' is " + ShowJson(value) + "; expected a whole number from 1 to " + Twine(kMaxStages) +
                ", or a list of stages such as [{\"match\": \"encoder/layer[0-2]*\"}, ...]");
  stages.count = static_cast<unsigned>(*count);
  return stages;
}

llvm::Expected<std::string> mlir::sgd::readSchedule(const Json& value) {
  if (!value.is_string() || value == "")
    return fail("field 'schedule' is " + ShowJson(value) + "; expected the name of a schedule, such as \"1f1b\"");
  std::string name = value.get<std::string>();
  for (StringRef choice : getScheduleChoices(name)) {
    llvm::Expected<PipelineForm> form = parseSchedule(choice, /*numStages=*/1);
    if (!form) return fail("field 'schedule': " + llvm::toString(form.takeError()));
  }
  return name;
}
