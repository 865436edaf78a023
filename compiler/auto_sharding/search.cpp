// Best-first descent in families: a family is which axes a mesh has, since between pure data parallelism and a good
// form of tensor parallelism or of a pipeline there are bad ones. The text's own annotations are a family.
#include "compiler/auto_sharding/search.h"

#include <map>
#include <set>

#include "compiler/auto_sharding/neighbours.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;

namespace {

/// Families are given up whose best takes so many times as long as the best of all.
constexpr double kHopeless = 1.25;
/// Rounds in which each family is looked at, whatever it takes.
constexpr unsigned kSureRounds = 1;
/// Candidates for which a plan within the limit is looked for in one round.
constexpr size_t kFitted = 4;
/// Seeds after which plans within the limit are looked for, so that a small budget finds some too.
constexpr size_t kSeeds = 8;
/// The search ends at a step that takes at most so many times what computing it takes.
constexpr double kGoodEnough = 1.005;

class Search {
 public:
  Search(const StepFacts& facts, const SearchOptions& options, EvaluateFn evaluate)
      : facts(facts), options(options), evaluate(evaluate) {}

  SearchResult run();

 private:
  using Family = std::tuple<bool, bool, bool>;  // is as written, has a model axis, has stages

  static Family getFamily(const Candidate& candidate) {
    return {candidate.asWritten.has_value(), candidate.mesh.model > 1, candidate.mesh.stages > 1};
  }
  bool isLess(size_t left, size_t right) const;
  double getBest() const;
  bool isDone() const;
  void tryAll(std::vector<Candidate> candidates);
  void fitIntoLimit();
  bool improve(unsigned round);
  size_t findSimplest() const;
  std::map<Family, size_t> findBestOfFamilies() const;

  const StepFacts& facts;
  const SearchOptions& options;
  EvaluateFn evaluate;
  SearchResult result;
  std::map<std::string, size_t> known;  // trials by recipe
  std::set<std::string> pruned;
  std::set<size_t> expanded, fitted;
};

}  // namespace

/// Steps that were compiled only: whether one is better, limits aside.
bool Search::isLess(size_t left, size_t right) const {
  auto key = [&](size_t trial) {
    const Evaluation& evaluation = result.trials[trial].evaluation;
    return std::tuple(evaluation.seconds, evaluation.peakBytes, evaluation.sentBytes,
                      result.trials[trial].recipe.size(), trial);
  };
  return key(left) < key(right);
}

double Search::getBest() const {
  return result.best ? result.trials[*result.best].evaluation.seconds : std::numeric_limits<double>::infinity();
}

bool Search::isDone() const {
  if (result.numEvaluations >= options.mostEvaluations) return true;
  double ideal = result.oneRank.leastSeconds / static_cast<double>(options.ranks);
  return result.oneRank.refusal.empty() && getBest() <= kGoodEnough * ideal;
}

void Search::tryAll(std::vector<Candidate> candidates) {
  std::vector<Trial> batch;
  for (Candidate& candidate : candidates) {
    if (!isSensible(candidate, facts)) continue;
    std::string recipe = writeRecipe(candidate, facts);
    size_t left = options.mostEvaluations - result.numEvaluations;
    if (batch.size() >= left || !known.try_emplace(recipe, result.trials.size() + batch.size()).second) continue;
    if (result.oneRank.refusal.empty() && getBound(candidate, facts, result.oneRank.leastSeconds) >= getBest()) {
      known.erase(recipe);
      result.numPruned += pruned.insert(recipe).second;
      continue;
    }
    batch.push_back({std::move(candidate), std::move(recipe), {}, false});
  }
  std::vector<std::string> recipes;
  for (const Trial& trial : batch) recipes.push_back(trial.recipe);
  std::vector<Evaluation> evaluations = evaluate(recipes);
  result.numEvaluations += batch.size();
  for (auto [trial, evaluation] : llvm::zip(batch, evaluations)) {
    trial.evaluation = std::move(evaluation);
    trial.fits = trial.evaluation.refusal.empty() && trial.evaluation.peakBytes <= options.memoryLimit;
    result.trials.push_back(std::move(trial));
    size_t added = result.trials.size() - 1;
    if (result.trials[added].fits && (!result.best || isLess(added, *result.best))) result.best = added;
  }
}

/// Compiles candidates that need too much memory within the limit, which makes no step shorter: the fastest first, or
/// those that need least where nothing fits yet.
void Search::fitIntoLimit() {
  std::vector<size_t> order;
  for (auto [index, trial] : llvm::enumerate(result.trials))
    if (trial.evaluation.refusal.empty() && !trial.fits && !trial.candidate.memoryLimit &&
        trial.evaluation.seconds < getBest() && !fitted.count(index))
      order.push_back(index);
  auto peakOf = [&](size_t trial) { return result.trials[trial].evaluation.peakBytes; };
  llvm::sort(order, [&](size_t left, size_t right) {
    if (!result.best && peakOf(left) != peakOf(right)) return peakOf(left) < peakOf(right);
    return isLess(left, right);
  });
  if (order.size() > kFitted) order.resize(kFitted);
  std::vector<Candidate> candidates;
  for (size_t trial : order) {
    fitted.insert(trial);
    candidates.push_back(result.trials[trial].candidate);
    candidates.back().memoryLimit = options.memoryLimit;
  }
  tryAll(std::move(candidates));
}

/// Of each family the best; those that fit come first.
std::map<Search::Family, size_t> Search::findBestOfFamilies() const {
  std::map<Family, size_t> best;
  for (auto [index, trial] : llvm::enumerate(result.trials)) {
    if (!trial.evaluation.refusal.empty()) continue;
    auto [known, isNew] = best.try_emplace(getFamily(trial.candidate), index);
    if (isNew) continue;
    bool fits = result.trials[known->second].fits;
    if (trial.fits != fits ? trial.fits : isLess(index, known->second)) known->second = index;
  }
  return best;
}

bool Search::improve(unsigned round) {
  std::vector<Candidate> next;
  std::map<Family, size_t> best = findBestOfFamilies();
  auto tensor = best.find({false, true, false});
  const std::vector<GroupAxis>* groups =
      tensor == best.end() ? nullptr : &result.trials[tensor->second].candidate.groups;
  for (auto [family, trial] : best) {
    bool isHopeless = result.trials[trial].evaluation.seconds > kHopeless * getBest();
    if ((round >= kSureRounds && isHopeless) || !expanded.insert(trial).second) continue;
    const Candidate& candidate = result.trials[trial].candidate;
    bool isShortOfMemory = !result.trials[trial].fits || candidate.memoryLimit.has_value();
    llvm::append_range(next, findNeighbours(candidate, facts, groups, isShortOfMemory));
  }
  if (next.empty()) return false;
  tryAll(std::move(next));
  return true;
}

/// The first by complexity, then by what isLess compares, of those that take about as long as the fastest.
size_t Search::findSimplest() const {
  size_t simplest = *result.fastest;
  const double most = kWorthASimplerRecipe * result.trials[simplest].evaluation.seconds;
  for (auto [index, trial] : llvm::enumerate(result.trials)) {
    if (!trial.fits || trial.evaluation.seconds > most) continue;
    unsigned known = getComplexity(result.trials[simplest].candidate), own = getComplexity(trial.candidate);
    if (own < known || (own == known && isLess(index, simplest))) simplest = index;
  }
  return simplest;
}

SearchResult Search::run() {
  Candidate alone = getOneRank(facts);
  result.oneRank = evaluate({writeRecipe(alone, facts)}).front();
  ++result.numEvaluations;
  std::vector<Candidate> seeds = findSeeds(facts, options.ranks);
  for (llvm::ArrayRef<Candidate> left = seeds; !left.empty(); left = left.drop_front(std::min(left.size(), kSeeds))) {
    tryAll(left.take_front(kSeeds));
    fitIntoLimit();
  }
  for (unsigned round = 0; !isDone(); ++round) {
    size_t before = result.trials.size();
    bool goesOn = improve(round);
    fitIntoLimit();
    if (!goesOn && before == result.trials.size()) {
      result.isComplete = true;
      break;
    }
  }
  result.isComplete |= result.numEvaluations < options.mostEvaluations;
  result.fastest = result.best;
  if (result.fastest) result.best = findSimplest();
  return std::move(result);
}

SearchResult mlir::sgd::search(const StepFacts& facts, const SearchOptions& options, EvaluateFn evaluate) {
  return Search(facts, options, evaluate).run();
}
