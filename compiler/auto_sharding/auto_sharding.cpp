#include "compiler/auto_sharding/auto_sharding.h"

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

std::string AutoChoice::getRefusal() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (search.trials.empty() && !search.isComplete) {
    os << "no recipe was looked at; expected more evaluations than " << search.numEvaluations
       << ", which the step on one rank takes; raise --auto-evaluations";
    return text;
  }
  if (search.trials.empty()) {
    os << ranks << " ranks have nothing to share: the batch has " << facts.rows
       << " rows, and no dimension of a parameter is as large; expected fewer ranks; lower --auto";
    return text;
  }
  const Trial* smallest = nullptr;
  for (const Trial& trial : search.trials)
    if (trial.evaluation.refusal.empty() && (!smallest || trial.evaluation.peakBytes < smallest->evaluation.peakBytes))
      smallest = &trial;
  os << "none of " << search.trials.size() << " recipes for " << ranks << " ranks can be used; expected one ";
  if (!smallest)
    os << "that the compiler partitions, and it refuses all, the first with: "
       << search.trials.front().evaluation.refusal;
  else
    os << "that needs at most " << memoryLimit << " bytes of a rank, and '" << describe(smallest->candidate, facts)
       << "' needs least, " << smallest->evaluation.peakBytes << "; raise --memory-limit, or ask for more ranks";
  return text;
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
  choice.topology = options.topology.empty() ? (*target)->getDescription().topology : options.topology;
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
  return std::move(choice);
}

CompileOptions mlir::sgd::useRecipe(CompileOptions options, const AutoChoice& choice, StringRef recipeFile) {
  options.recipeFile = recipeFile.str();
  options.recipe = choice.getBest().recipe;
  options.memoryLimit.reset();
  return options;
}
