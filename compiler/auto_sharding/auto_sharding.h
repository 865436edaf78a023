// `sgdc --auto N`: finds the recipe with which a step takes least time on N ranks, by the plan that would run.
#ifndef SGD_COMPILER_AUTO_SHARDING_AUTO_SHARDING_H
#define SGD_COMPILER_AUTO_SHARDING_AUTO_SHARDING_H

#include "compiler/auto_sharding/search.h"
#include "nlohmann/json.hpp"

namespace mlir::sgd {

struct AutoOptions {
  int64_t ranks = 0;
  unsigned mostEvaluations = 200;
};

/// The recipe that was found, and all others that it was compared with.
struct AutoChoice {
  StepFacts facts;
  SearchResult search;
  int64_t ranks = 1;
  uint64_t memoryLimit = 0;   ///< bytes of a rank
  bool limitIsGiven = false;  ///< else it is the topology's memory
  std::string topology;

  const Trial& getBest() const { return search.trials[*search.best]; }
  /// For people: what was chosen, if anything was, and why; the fastest candidates, or `all`, with why others were
  /// rejected.
  void print(llvm::raw_ostream& os, bool all = true) const;
  nlohmann::json toJson() const;
  /// One line: why there is no best one.
  std::string getRefusal() const;
};

/// The most ranks that a recipe is looked for.
inline constexpr int64_t kMostAutoRanks = int64_t(1) << 20;

/// `options` name no mesh, and no recipe but one of the fields that readGivenFields takes. Fails with one line on
/// `errors` where the step is none. Where no candidate can be used, none is the best.
FailureOr<AutoChoice> chooseRecipe(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                   const AutoOptions& wanted, llvm::raw_ostream& errors, Timings* timings);

/// `options` with the recipe that was chosen, which messages call `recipeFile`.
CompileOptions useRecipe(CompileOptions options, const AutoChoice& choice, llvm::StringRef recipeFile);

}  // namespace mlir::sgd

#endif
