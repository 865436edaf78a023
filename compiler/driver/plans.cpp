// Pairs meshes with recipes, compiles plan after plan, and joins their artifacts.
#include "compiler/driver/plans.h"

#include "compiler/recipe/built_in.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "runtime/artifact/bundle.h"
#include "runtime/artifact/short_message.h"

using namespace mlir;
using namespace mlir::sgd;

/// The one of plan `plan` among one for all plans, or one for each; empty where there is none.
static std::string getOfPlan(ArrayRef<std::string> given, size_t plan) {
  if (given.empty()) return "";
  return given.size() == 1 ? given.front() : given[plan];
}

/// `data=4,model=2`.
static std::string getText(ArrayRef<MeshAxisSize> mesh) {
  auto getAxisText = [](const MeshAxisSize& axis) { return axis.name + "=" + std::to_string(axis.size); };
  return llvm::join(llvm::map_range(mesh, getAxisText), ",");
}

static llvm::Error checkNames(ArrayRef<PlanRequest> plans, bool isByRecipe) {
  llvm::StringSet<> names;
  for (const PlanRequest& plan : plans)
    if (!names.insert(plan.name).second)
      return llvm::createStringError("two plans are named '" + plan.name + "'; expected " +
                                     (isByRecipe ? "recipes with different file names; rename one, or give one recipe "
                                                   "for all meshes"
                                                 : "different meshes; leave one out"));
  return llvm::Error::success();
}

llvm::Expected<std::vector<PlanRequest>> mlir::sgd::getPlans(const CompileOptions& options,
                                                             ArrayRef<std::string> meshes,
                                                             ArrayRef<std::string> recipes) {
  if (meshes.size() > 1 && recipes.size() > 1 && meshes.size() != recipes.size())
    return llvm::createStringError("there are " + llvm::Twine(meshes.size()) + " of --mesh and " +
                                   llvm::Twine(recipes.size()) +
                                   " of --recipe; expected one of them for all plans, or one of each for each plan");
  std::vector<PlanRequest> plans(std::max({meshes.size(), recipes.size(), size_t{1}}), PlanRequest{"", options});
  for (auto [index, plan] : llvm::enumerate(plans)) {
    plan.options.recipeFile = getOfPlan(recipes, index);
    if (std::string mesh = getOfPlan(meshes, index); !mesh.empty()) {
      llvm::Expected<std::vector<MeshAxisSize>> sizes = parseMesh(mesh);
      if (!sizes) return sizes.takeError();
      plan.options.mesh = std::move(*sizes);
    }
    plan.name = recipes.size() > 1 ? llvm::sys::path::stem(plan.options.recipeFile).str() : getText(plan.options.mesh);
  }
  if (llvm::Error error = checkNames(plans, recipes.size() > 1)) return error;
  return plans;
}

static LogicalResult setBuiltInRecipe(CompileOptions& options, llvm::raw_ostream& errors) {
  bool hasDataAxis = llvm::any_of(options.mesh, [](const MeshAxisSize& axis) { return axis.name == "data"; });
  llvm::Expected<std::string> text = getBuiltInRecipe(options.recipeFile, hasDataAxis);
  if (!text) {
    errors << "sgdc: error: " << ::sgd::artifact::ShortMessage(llvm::toString(text.takeError())) << "\n";
    return failure();
  }
  options.recipe = std::move(*text);
  if (!StringRef(options.recipeFile).starts_with("-")) options.recipeFile = "--recipe " + options.recipeFile;
  return success();
}

LogicalResult mlir::sgd::readRecipes(MutableArrayRef<PlanRequest> plans, llvm::raw_ostream& errors) {
  for (size_t i = 0; i < plans.size(); ++i) {
    CompileOptions& options = plans[i].options;
    if (options.recipeFile.empty()) continue;
    if (!isRecipeFile(options.recipeFile)) {
      if (failed(setBuiltInRecipe(options, errors))) return failure();
      continue;
    }
    // One for all plans may be standard input.
    if (i > 0 && options.recipeFile == plans[i - 1].options.recipeFile)
      options.recipe = plans[i - 1].options.recipe;
    else if (failed(readRecipeFile(options, errors)))
      return failure();
  }
  return success();
}

/// Lines of `messages`, each with the name of the plan that it is about.
static void printMessages(StringRef messages, StringRef plan, llvm::raw_ostream& errors) {
  for (StringRef line : llvm::split(messages.rtrim('\n'), '\n'))
    if (!line.empty()) errors << line << " (plan '" << ::sgd::artifact::ShortMessage(plan.str()) << "')\n";
}

static FailureOr<std::string> bundle(ArrayRef<CompiledPlan> plans, llvm::raw_ostream& errors) {
  if (plans.size() == 1) return plans.front().compilation.artifact;
  std::vector<std::pair<std::string, std::string_view>> artifacts;
  for (const CompiledPlan& plan : plans) {
    if (plan.compilation.artifact.empty()) return std::string();
    artifacts.emplace_back(plan.name, plan.compilation.artifact);
  }
  absl::StatusOr<std::string> bytes = ::sgd::artifact::BundlePlans(artifacts);
  if (bytes.ok()) return *std::move(bytes);
  errors << "sgdc: error: " << ::sgd::artifact::ShortMessage(std::string(bytes.status().message())) << "\n";
  return failure();
}

FailureOr<CompiledPlans> mlir::sgd::compilePlans(ArrayRef<ProgramSource> sources, ArrayRef<PlanRequest> plans,
                                                 const std::optional<CompileCache>& cache, llvm::raw_ostream& errors,
                                                 Timings* timings) {
  const bool isBundle = plans.size() > 1;
  std::optional<CompileSession> session;
  if (isBundle && !cache) session.emplace(sources);
  auto compilePlan = [&](const CompileOptions& options, llvm::raw_ostream& to) {
    if (cache) return compileCached(sources, options, cache->folder, cache->limit, to, timings);
    return session ? session->compile(options, to, timings) : compile(sources, options, to, timings);
  };
  CompiledPlans compiled;
  for (const PlanRequest& plan : plans) {
    std::string messages;
    llvm::raw_string_ostream stream(messages);
    FailureOr<Compilation> compilation = compilePlan(plan.options, isBundle ? stream : errors);
    printMessages(messages, plan.name, errors);
    if (failed(compilation)) return failure();
    compiled.plans.push_back({plan.name, std::move(*compilation)});
  }
  FailureOr<std::string> artifact = bundle(compiled.plans, errors);
  if (failed(artifact)) return failure();
  compiled.artifact = std::move(*artifact);
  return compiled;
}

std::string CompiledPlans::getEmitted() const {
  if (plans.size() == 1) return plans.front().compilation.emitted;
  std::string text;
  for (const CompiledPlan& plan : plans) {
    if (plan.compilation.emitted.empty()) continue;
    if (!text.empty()) text += "// -----\n";
    text += "// plan " + plan.name + "\n" + plan.compilation.emitted;
  }
  return text;
}

nlohmann::json mlir::sgd::addPlanName(StringRef name, nlohmann::json value) {
  if (!value.is_object()) value = {{"records", std::move(value)}};
  value["plan"] = name.str();
  return value;
}
