// Several compilations of the same programs in one artifact: a plan for each mesh or recipe.
#ifndef SGD_COMPILER_DRIVER_PLANS_H
#define SGD_COMPILER_DRIVER_PLANS_H

#include "compiler/driver/compile_cache.h"
#include "compiler/driver/driver.h"

namespace mlir::sgd {

struct PlanRequest {
  std::string name;  ///< "data=4", unique among the plans
  CompileOptions options;
};

/// The plans that `--mesh` and `--recipe` ask for, with `options` for all: one for each of several meshes or recipes,
/// and where both are several, for the first of both, the second of both, and so on. Plans are named by their recipes'
/// files where these are several, else by their meshes. Recipes are named, not read. Errors: a mesh that does not
/// parse, other numbers of meshes and recipes, equal names.
llvm::Expected<std::vector<PlanRequest>> getPlans(const CompileOptions& options, llvm::ArrayRef<std::string> meshes,
                                                  llvm::ArrayRef<std::string> recipes);

/// Reads the recipes that the plans name, files or built-in ones. Prints one line to `errors` on failure.
LogicalResult readRecipes(llvm::MutableArrayRef<PlanRequest> plans, llvm::raw_ostream& errors);

struct CompiledPlan {
  std::string name;
  Compilation compilation;
};

struct CompiledPlans {
  std::vector<CompiledPlan> plans;
  std::string artifact;  ///< of all plans; empty where none has one

  /// Compilation::emitted of all plans; of several, each behind a line with its name, and so that `// -----` separates
  /// them.
  std::string getEmitted() const;
  /// Of one plan the JSON of its `part`, of several `{"plans": [{"plan": NAME, ...}, ...]}` with the fields of each; a
  /// list stands in the field "records".
  template <typename T>
  nlohmann::json toJson(T Compilation::* part) const;
  /// As text; of several plans, each behind a line with its name.
  template <typename T>
  void print(T Compilation::* part, llvm::raw_ostream& os,
             void (T::*printer)(llvm::raw_ostream&) const = &T::print) const;
};

/// The folder that compilations are kept in, see compileCached().
struct CompileCache {
  std::string folder;
  uint64_t limit = 0;  ///< bytes
};

/// Compiles each plan, and bundles several into one artifact. The programs are read once, or with a cache, which keeps
/// whole compilations, by each plan that it lacks. Lines on `errors` about one of several plans end in its name.
FailureOr<CompiledPlans> compilePlans(llvm::ArrayRef<ProgramSource> sources, llvm::ArrayRef<PlanRequest> plans,
                                      const std::optional<CompileCache>& cache, llvm::raw_ostream& errors,
                                      Timings* timings = nullptr);

/// `value` with the plan's name.
nlohmann::json addPlanName(llvm::StringRef name, nlohmann::json value);

template <typename T>
nlohmann::json CompiledPlans::toJson(T Compilation::* part) const {
  if (plans.size() == 1) return (plans.front().compilation.*part).toJson();
  nlohmann::json all = nlohmann::json::array();
  for (const CompiledPlan& plan : plans) all.push_back(addPlanName(plan.name, (plan.compilation.*part).toJson()));
  return {{"plans", std::move(all)}};
}

template <typename T>
void CompiledPlans::print(T Compilation::* part, llvm::raw_ostream& os,
                          void (T::*printer)(llvm::raw_ostream&) const) const {
  for (const CompiledPlan& plan : plans) {
    if (plans.size() > 1) os << "plan " << plan.name << "\n";
    ((plan.compilation.*part).*printer)(os);
  }
}

}  // namespace mlir::sgd

#endif
