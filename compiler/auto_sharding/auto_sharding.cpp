#include "compiler/auto_sharding/auto_sharding.h"

#include "compiler/driver/pipelines.h"
#include "compiler/target/target.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::sgd;

/// Each thread has its own copy of the programs, and evaluations are few.
static constexpr unsigned kMostThreads = 16;

static unsigned getThreads(const CompileOptions& options) {
  unsigned threads =
      options.threads ? options.threads : llvm::heavyweight_hardware_concurrency().compute_thread_count();
  return std::clamp(threads, 1u, kMostThreads);
}

/// Nothing fits: says what needs least.
static void refuse(const AutoChoice& choice, llvm::raw_ostream& errors) {
  const Trial* smallest = nullptr;
  for (const Trial& trial : choice.search.trials)
    if (trial.evaluation.refusal.empty() && (!smallest || trial.evaluation.peakBytes < smallest->evaluation.peakBytes))
      smallest = &trial;
  if (choice.search.trials.empty()) {
    errors << "sgdc: error: " << choice.ranks << " ranks have nothing to share: the batch has " << choice.facts.rows
           << " rows, and no dimension of a parameter is as large; expected fewer ranks, or more evaluations than "
           << choice.search.numEvaluations << "; lower --auto\n";
    return;
  }
  errors << "sgdc: error: none of " << choice.search.trials.size() << " recipes for " << choice.ranks
         << " ranks can be used; expected one ";
  if (!smallest) {
    errors << "that the compiler partitions, and it refuses all, the first with: "
           << choice.search.trials.front().evaluation.refusal << "\n";
    return;
  }
  errors << "that needs at most " << choice.memoryLimit << " bytes of a rank, and '"
         << describe(smallest->candidate, choice.facts) << "' needs least, " << smallest->evaluation.peakBytes
         << "; raise --memory-limit, or ask for more ranks\n";
}

FailureOr<AutoChoice> mlir::sgd::chooseRecipe(ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                              const AutoOptions& wanted, llvm::raw_ostream& errors, Timings* timings) {
  Timings::Scope scope(timings, "auto-sharding");
  llvm::Expected<std::unique_ptr<Target>> target = Target::create(options);
  auto fail = [&](llvm::Error error) {
    errors << "sgdc: error: " << llvm::toString(std::move(error)) << "\n";
    return failure();
  };
  if (!target) return fail(target.takeError());
  AutoChoice choice;
  choice.ranks = wanted.ranks;
  choice.topology = getTopologyName(options, (*target)->getDescription());
  llvm::Expected<Topology> topology = loadTopology(choice.topology);
  if (!topology) return fail(topology.takeError());
  choice.limitIsGiven = options.memoryLimit.has_value();
  choice.memoryLimit = options.memoryLimit.value_or(topology->device.memoryBytes);
  CompileSession session(sources);
  FailureOr<StepFacts> facts = findStepFacts(session, options, errors);
  if (failed(facts)) return failure();
  choice.facts = std::move(*facts);
  CompileOptions trial = options;
  trial.memoryLimit.reset();  // by the recipe, where it takes one
  Evaluator evaluator(sources, std::move(trial), std::move(*topology), getThreads(options));
  choice.search = search(choice.facts, {choice.ranks, wanted.mostEvaluations, choice.memoryLimit},
                         [&](ArrayRef<std::string> recipes) { return evaluator.evaluate(recipes); });
  if (!choice.search.best) {
    refuse(choice, errors);
    return failure();
  }
  return std::move(choice);
}

CompileOptions mlir::sgd::useRecipe(CompileOptions options, const AutoChoice& choice, StringRef recipeFile) {
  options.recipeFile = recipeFile.str();
  options.recipe = choice.getBest().recipe;
  options.memoryLimit.reset();
  return options;
}
