// Prints the comparison of recipes, for people and as JSON.
#include "compiler/auto_sharding/auto_sharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/text/amounts.h"

using namespace mlir::sgd;
using ::sgd::text::BytesText;

/// Of the table that is printed without being asked for.
static constexpr size_t kShortTable = 8;

/// Trials by what becomes of them: the chosen one, those that fit, those that need too much memory, those that were
/// refused; the fastest first.
static std::vector<const Trial*> sortTrials(const SearchResult& search) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : search.trials) trials.push_back(&trial);
  auto key = [&](const Trial* trial) {
    const Evaluation& evaluation = trial->evaluation;
    bool isChosen = search.best && trial == &search.trials[*search.best];
    int group = isChosen ? 0 : trial->fits ? 1 : evaluation.refusal.empty() ? 2 : 3;
    return std::tuple(group, evaluation.seconds, evaluation.peakBytes, evaluation.sentBytes, trial->recipe.size(),
                      trial);
  };
  llvm::sort(trials, [&](const Trial* left, const Trial* right) { return key(left) < key(right); });
  return trials;
}

static void printRow(llvm::raw_ostream& os, const Trial& trial, const AutoChoice& choice) {
  std::string name = describe(trial.candidate, choice.facts);
  if (trial.candidate.memoryLimit) name += " (computes again)";
  const Evaluation& evaluation = trial.evaluation;
  if (!evaluation.refusal.empty()) {
    os << "  refused: " << name << ": " << evaluation.refusal << "\n";
    return;
  }
  os << llvm::formatv("  {0,10:f3} {1,10:f3} {2,10:f3} {3,6:f1}% {4,11} {5,11}  {6}{7}\n", evaluation.seconds * 1e3,
                      evaluation.computeSeconds * 1e3, evaluation.exposedSeconds * 1e3, evaluation.bubble * 100,
                      BytesText(evaluation.peakBytes), BytesText(evaluation.sentBytes), name,
                      trial.fits ? "" : " (does not fit)");
}

/// Why `other`, which fits, was not chosen.
static std::string getLoss(const Trial& chosen, const Trial& other) {
  const Evaluation &best = chosen.evaluation, &its = other.evaluation;
  if (its.seconds <= best.seconds * kWorthASimplerRecipe &&
      getComplexity(other.candidate) > getComplexity(chosen.candidate))
    return llvm::formatv("{0} by {1:f1} %, which is less than a simpler recipe is worth ({2:f0} %)",
                         its.seconds < best.seconds ? "is faster" : "is slower",
                         100 * std::abs(its.seconds / best.seconds - 1), 100 * (kWorthASimplerRecipe - 1));
  std::vector<std::pair<double, const char*>> more = {
      {its.computeSeconds - best.computeSeconds, "computes {0:f3} ms longer"},
      {its.exposedSeconds - best.exposedSeconds, "waits {0:f3} ms longer for collectives"},
      {its.bubble * its.seconds - best.bubble * best.seconds, "has stages that wait {0:f3} ms longer for each other"}};
  auto most = llvm::max_element(more);
  if (most->first > 0) return llvm::formatv(most->second, most->first * 1e3);
  if (its.peakBytes > best.peakBytes)
    return "is as fast and needs " + BytesText(its.peakBytes - best.peakBytes) + " more";
  if (its.sentBytes > best.sentBytes)
    return "is as fast and sends " + BytesText(its.sentBytes - best.sentBytes) + " more";
  return "is as fast, and its recipe is longer";
}

/// The fastest that fits beside the chosen one.
static void printRunnerUp(llvm::raw_ostream& os, const AutoChoice& choice, llvm::ArrayRef<const Trial*> trials) {
  auto second = llvm::find_if(trials, [&](const Trial* trial) { return trial->fits && trial != &choice.getBest(); });
  if (second == trials.end()) return;
  os << llvm::formatv("  runner-up: {0}; it {1}\n", describe((*second)->candidate, choice.facts),
                      getLoss(choice.getBest(), **second));
}

/// Why the chosen one and not the fastest of another kind.
static void printReasons(llvm::raw_ostream& os, const AutoChoice& choice, llvm::ArrayRef<const Trial*> trials) {
  const Trial& best = choice.getBest();
  const Evaluation& chosen = best.evaluation;
  os << llvm::formatv("chosen: {0}\n  in words: {1}\n", describe(best.candidate, choice.facts),
                      describeInWords(best.candidate, choice.facts));
  os << llvm::formatv(
      "  {0:f3} ms a step on {1}: {2:f3} computing, {3:f3} waiting for collectives, {4:f1} % waiting for "
      "other stages; one rank alone takes {5:f3}\n",
      chosen.seconds * 1e3, choice.topology, chosen.computeSeconds * 1e3, chosen.exposedSeconds * 1e3,
      chosen.bubble * 100, choice.search.oneRank.seconds * 1e3);
  printRunnerUp(os, choice, trials);
  auto kindOf = [](const Trial& trial) {
    const Candidate& candidate = trial.candidate;
    return std::tuple(candidate.asWritten.has_value(), candidate.mesh.model > 1, candidate.mesh.stages > 1,
                      candidate.zero > 0);
  };
  std::vector<decltype(kindOf(best))> seen = {kindOf(best)};
  for (const Trial* trial : trials) {
    if (!trial->fits || llvm::is_contained(seen, kindOf(*trial))) continue;
    seen.push_back(kindOf(*trial));
    const Evaluation& other = trial->evaluation;
    if (other.seconds < chosen.seconds) continue;  // the runner-up, which was said
    os << llvm::formatv(
        "  beats {0}: {1:f3} ms ({2:f2} x), of which {3:f3} computing and {4:f3} waiting for "
        "collectives; sends {5}, needs {6}\n",
        describe(trial->candidate, choice.facts), other.seconds * 1e3, other.seconds / chosen.seconds,
        other.computeSeconds * 1e3, other.exposedSeconds * 1e3, BytesText(other.sentBytes), BytesText(other.peakBytes));
  }
}

void AutoChoice::print(llvm::raw_ostream& os, bool all) const {
  std::vector<const Trial*> trials = sortTrials(search);
  auto count = [&](auto is) { return llvm::count_if(trials, [&](const Trial* trial) { return is(*trial); }); };
  os << llvm::formatv("auto-sharding for {0} ranks: {1} evaluations, {2} left out by their bound, {3}\n", ranks,
                      search.numEvaluations, search.numPruned,
                      search.isComplete ? "nothing left to look at" : "as many as asked for");
  os << llvm::formatv("  {0} fit into {1} of a rank{2}, {3} do not, {4} are refused\n",
                      count([](const Trial& trial) { return trial.fits; }), BytesText(memoryLimit),
                      limitIsGiven ? "" : " (the topology's)",
                      count([](const Trial& trial) { return !trial.fits && trial.evaluation.refusal.empty(); }),
                      count([](const Trial& trial) { return !trial.evaluation.refusal.empty(); }));
  os << "     step ms    compute    exposed  bubble        peak        sent  recipe\n";
  for (const Trial* trial : llvm::ArrayRef(trials).take_front(all ? trials.size() : kShortTable))
    if (all || trial->evaluation.refusal.empty()) printRow(os, *trial, *this);
  if (search.best) printReasons(os, *this, trials);
}

nlohmann::json AutoChoice::toJson() const {
  nlohmann::json candidates = nlohmann::json::array();
  for (const Trial* trial : sortTrials(search)) {
    const Evaluation& evaluation = trial->evaluation;
    nlohmann::json candidate{{"name", describe(trial->candidate, facts)},
                             {"description", describeInWords(trial->candidate, facts)},
                             {"recipe", trial->recipe}};
    bool isChosen = search.best && trial == &getBest();
    candidate["chosen"] = isChosen;
    if (trial->fits && !isChosen) candidate["lost"] = getLoss(getBest(), *trial);
    if (!evaluation.refusal.empty()) {
      candidate["refused"] = evaluation.refusal;
    } else {
      candidate["fits"] = trial->fits;
      candidate["step_seconds"] = evaluation.seconds;
      candidate["compute_seconds"] = evaluation.computeSeconds;
      candidate["exposed_communication_seconds"] = evaluation.exposedSeconds;
      candidate["bubble"] = evaluation.bubble;
      candidate["peak_bytes"] = evaluation.peakBytes;
      candidate["sent_bytes"] = evaluation.sentBytes;
    }
    candidates.push_back(std::move(candidate));
  }
  return {{"ranks", ranks},
          {"topology", topology},
          {"memory_limit", memoryLimit},
          {"evaluations", search.numEvaluations},
          {"pruned", search.numPruned},
          {"complete", search.isComplete},
          {"one_rank_seconds", search.oneRank.seconds},
          {"candidates", std::move(candidates)}};
}
