// The search over candidates: standard forms first, then what differs from the best of each kind in one respect.
#ifndef SGD_COMPILER_AUTO_SHARDING_SEARCH_H
#define SGD_COMPILER_AUTO_SHARDING_SEARCH_H

#include "compiler/auto_sharding/candidate.h"
#include "compiler/auto_sharding/evaluate.h"

namespace mlir::sgd {

struct SearchOptions {
  int64_t ranks = 1;
  unsigned mostEvaluations = 0;
  uint64_t memoryLimit = 0;  ///< bytes of a rank
};

/// A simpler recipe may take so many times as long as the fastest: estimates are no better than that, and whoever runs
/// the recipe reads and keeps it.
inline constexpr double kWorthASimplerRecipe = 1.03;

/// A candidate that was looked at.
struct Trial {
  Candidate candidate;
  std::string recipe;
  Evaluation evaluation;
  bool fits = false;  ///< it was compiled, and keeps the limit
};

struct SearchResult {
  std::vector<Trial> trials;      ///< in the order in which they were looked at
  std::optional<size_t> fastest;  ///< that fits; of equal ones, by memory, bytes, length of the recipe
  std::optional<size_t> best;     ///< the simplest of those that take at most kWorthASimplerRecipe times as long
  Evaluation oneRank;             ///< the step on one rank, whatever memory it needs
  unsigned numEvaluations = 0;    ///< of steps, that on one rank among them
  unsigned numPruned = 0;         ///< candidates that cannot be faster, by their bound
  bool isComplete = false;        ///< nothing was left to look at; else all evaluations were used
};

/// Evaluates recipes; a search asks in batches that depend on its answers alone.
using EvaluateFn = llvm::function_ref<std::vector<Evaluation>(llvm::ArrayRef<std::string>)>;

/// Depends on nothing but its arguments and what `evaluate` answers.
SearchResult search(const StepFacts& facts, const SearchOptions& options, EvaluateFn evaluate);

}  // namespace mlir::sgd

#endif
