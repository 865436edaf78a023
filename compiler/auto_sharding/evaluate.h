// Evaluates a recipe: compiles a step by it, but for its code, and simulates it.
#ifndef SGD_COMPILER_AUTO_SHARDING_EVALUATE_H
#define SGD_COMPILER_AUTO_SHARDING_EVALUATE_H

#include <deque>

#include "compiler/driver/driver.h"
#include "passes/cost/topology.h"

namespace mlir::sgd {

struct Evaluation {
  std::string refusal;                            ///< the compiler's message; empty: the step was compiled
  double seconds = 0;                             ///< of a step, by simulation
  double leastSeconds = 0;                        ///< the same, if all that is in memory were in caches
  double computeSeconds = 0, exposedSeconds = 0;  ///< mean over stages
  double bubble = 0;                              ///< part of the stages' time that they wait for each other
  uint64_t peakBytes = 0, sentBytes = 0;          ///< of a rank
};

/// Compiles and simulates on several threads, each with programs of its own; what comes out does not depend on how
/// many there are.
class Evaluator {
 public:
  /// `sources` must outlive it; `options` are those of all evaluations, without a recipe.
  Evaluator(llvm::ArrayRef<ProgramSource> sources, CompileOptions options, Topology topology, unsigned threads);

  /// In the order of `recipes`.
  std::vector<Evaluation> evaluate(llvm::ArrayRef<std::string> recipes);

 private:
  Evaluation evaluate(CompileSession& session, const std::string& recipe) const;

  CompileOptions options;
  Topology topology, near;              // as given, and with memory that is as fast as caches
  std::deque<CompileSession> sessions;  // one for each thread
};

}  // namespace mlir::sgd

#endif
