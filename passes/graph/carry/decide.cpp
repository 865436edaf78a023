// Names first; what they leave is paired by what the program computes, and compared with position and aliases.
#include "passes/graph/carry/decide.h"

#include <algorithm>
#include <set>

#include "llvm/ADT/IntEqClasses.h"
#include "passes/graph/carry/assignment.h"

using namespace mlir::sgd;
using ::sgd::artifact::MatchPaths;
using ::sgd::artifact::NamedTensor;
using ::sgd::artifact::PathGroup;
using ::sgd::artifact::PathMatch;

namespace {

using Leaf = std::pair<unsigned, unsigned>;  // result, argument

constexpr unsigned kKeyScore = std::tuple_size_v<CarryScore> - 1;

/// Results that go together, arguments that go together, and a reason to think that these are those.
struct Candidate {
  unsigned from, to;  // units
  std::vector<Leaf> leaves;
  CarryScore score = {};
};

/// Whether a result's path is only a position, or nothing.
bool isAnonymous(const CarryValue& result) {
  return std::all_of(result.path.begin(), result.path.end(), [](const auto& part) { return part.is_index; });
}

std::vector<NamedTensor> getNamed(const std::vector<CarryValue>& values) {
  std::vector<NamedTensor> named;
  for (const CarryValue& value : values) named.push_back({value.path, value.type});
  return named;
}

class Decider {
 public:
  Decider(const CarryProblem& problem, CarryEvidence& evidence)
      : problem(problem), evidence(evidence), isPaired(problem.arguments.size()) {
    decision.results.resize(problem.results.size());
    for (unsigned argument = 0; argument < problem.arguments.size(); ++argument)
      if (auto alias = problem.arguments[argument].alias) aliases[*alias] = argument;
  }

  CarryDecision run() {
    PathMatch match = MatchPaths(getNamed(problem.results), getNamed(problem.arguments));
    for (const PathGroup& group : match.unique) decideByNames(group);
    decideTies(match.tied);
    decideByDataflow(getNamelessCandidates());
    doubtTheRest();
    return std::move(decision);
  }

 private:
  //===--- names ---===//

  void decideByNames(const PathGroup& group) {
    if (!group.to.empty()) return decideByNames({group.pairs.begin(), group.pairs.end()}, /*isNamedWhole=*/false);
    // Paths are equal from the argument on: each argument of the user's function by itself.
    std::map<std::string, std::vector<Leaf>> byRoot;
    for (Leaf leaf : group.pairs) byRoot[problem.arguments[leaf.second].path.front().text].push_back(leaf);
    for (const auto& [root, leaves] : byRoot) decideByNames(leaves, /*isNamedWhole=*/true);
  }

  void decideByNames(const std::vector<Leaf>& leaves, bool isNamedWhole) {
    bool isState = isConfirmed(leaves) || std::any_of(leaves.begin(), leaves.end(), [&](Leaf leaf) {
                     if (isNamedWhole && comesFromState(leaf.first)) return true;
                     bool isGiven = isNamedWhole || problem.arguments[leaf.second].isDonated;
                     return isGiven && evidence.depends(leaf.first, leaf.second);
                   });
    for (auto [result, argument] : leaves) {
      if (isState || evidence.get(result, argument) == Link::Same)
        pair(result, argument, CarryBasis::Names);
      else if (isNamedWhole)
        doubt(argument, "a result has its name, but does not depend on it", result);
      else if (evidence.depends(result, argument))
        // No candidate: a gradient must never be advised as the next value.
        doubt(argument, "a result has its path, but the program computes no update of it there: it may be a gradient",
              std::nullopt);
    }
  }

  /// Whether the result is some argument of its type, or an update of one: x, the next x before.
  bool comesFromState(unsigned result) {
    for (unsigned argument = 0; argument < problem.arguments.size(); ++argument)
      if (problem.arguments[argument].type == problem.results[result].type &&
          (evidence.get(result, argument) == Link::Same || evidence.isUpdate(result, argument)))
        return true;
    return false;
  }

  /// Whether the program computes at least one of the leaves as the next value of its argument.
  bool isConfirmed(const std::vector<Leaf>& leaves) {
    return std::any_of(leaves.begin(), leaves.end(), [&](Leaf leaf) {
      auto [result, argument] = leaf;
      return evidence.isUpdate(result, argument) || isNextKey(result, argument) || isCounted(result, argument) ||
             evidence.isRoundedUpdate(result);
    });
  }

  bool isUnchanged(const std::vector<Leaf>& leaves) {
    return std::all_of(leaves.begin(), leaves.end(),
                       [&](Leaf leaf) { return evidence.get(leaf.first, leaf.second) == Link::Same; });
  }

  bool isNextKey(unsigned result, unsigned argument) {
    return problem.arguments[argument].isKey && evidence.depends(result, argument);
  }

  /// A counter that wraps around.
  bool isCounted(unsigned result, unsigned argument) {
    return problem.arguments[argument].isInteger && evidence.get(result, argument) == Link::Elementwise;
  }

  //===--- position and dataflow ---===//

  /// Units are the prefixes of tied groups.
  void decideTies(const std::vector<PathGroup>& tied) {
    std::map<std::string, unsigned> from, to;
    std::vector<Candidate> candidates;
    for (const PathGroup& group : tied) {
      Candidate candidate;
      candidate.from = from.try_emplace(PathText(group.from), from.size()).first->second;
      candidate.to = to.try_emplace(PathText(group.to), to.size()).first->second;
      candidate.leaves.assign(group.pairs.begin(), group.pairs.end());
      candidates.push_back(std::move(candidate));
    }
    decideByDataflow(std::move(candidates));
    for (const PathGroup& group : tied)
      for (auto [result, argument] : group.pairs)
        if (isOpen(result, argument) && !doubts(argument) && !problem.arguments[argument].isScalar &&
            evidence.depends(result, argument))
          doubt(argument, "several results have its path", result);
  }

  /// Every pair of one type that is open, each a unit of its own.
  std::vector<Candidate> getNamelessCandidates() {
    std::map<uint32_t, std::vector<unsigned>> byType;
    for (unsigned argument = 0; argument < problem.arguments.size(); ++argument)
      if (!isPaired[argument] && !doubts(argument)) byType[problem.arguments[argument].type].push_back(argument);
    std::vector<Candidate> candidates;
    for (unsigned result = 0; result < problem.results.size(); ++result) {
      auto found = byType.find(problem.results[result].type);
      if (decision.results[result] || found == byType.end()) continue;
      for (unsigned argument : found->second) candidates.push_back({result, argument, {{result, argument}}});
    }
    return candidates;
  }

  void decideByDataflow(std::vector<Candidate> candidates) {
    // Results that may be gradients, or functions of data, are not candidates.
    std::erase_if(candidates, [&](Candidate& candidate) {
      candidate.score = getScore(candidate.leaves);
      return candidate.score == CarryScore{} || !(isUnchanged(candidate.leaves) || isConfirmed(candidate.leaves));
    });
    for (const std::vector<Candidate>& component : getComponents(candidates)) decideComponent(component);
    for (const Candidate& candidate : candidates)
      for (auto [result, argument] : candidate.leaves) doubtRival(result, argument);
  }

  /// An argument that the next value of another one is computed from as if from its own, and that has none: gradients
  /// that are an argument, in m * 0.9 + g. Data may be, a constant may have been meant as state.
  void doubtRival(unsigned result, unsigned argument) {
    if (decision.results[result] && !isPaired[argument])
      doubt(argument, "the next value of another input is computed from it as if from its own", result);
  }

  CarryScore getScore(const std::vector<Leaf>& leaves) {
    CarryScore score = {};
    for (auto [result, argument] : leaves) {
      switch (evidence.get(result, argument)) {
        case Link::Addend:
        case Link::NearOne:
          ++score[0];
          break;
        case Link::Same:
          ++score[1];
          break;
        case Link::Scaled:
          ++score[2];
          break;
        case Link::Elementwise:
          ++score[3];
          break;
        case Link::None:
          score[kKeyScore] += isNextKey(result, argument) ? 1 : 0;
          break;
      }
    }
    return score;
  }

  /// Candidates that share units, directly or through others, in order.
  static std::vector<std::vector<Candidate>> getComponents(const std::vector<Candidate>& candidates) {
    llvm::IntEqClasses classes(candidates.size());
    std::map<unsigned, unsigned> from, to;  // the first candidate of a unit
    for (unsigned i = 0; i < candidates.size(); ++i) {
      classes.join(i, from.try_emplace(candidates[i].from, i).first->second);
      classes.join(i, to.try_emplace(candidates[i].to, i).first->second);
    }
    classes.compress();
    std::vector<std::vector<Candidate>> components(classes.getNumClasses());
    for (unsigned i = 0; i < candidates.size(); ++i) components[classes[i]].push_back(candidates[i]);
    return components;
  }

  void decideComponent(const std::vector<Candidate>& component) {
    std::map<unsigned, unsigned> from, to;  // units to positions
    std::vector<CarryEdge> edges;
    for (const Candidate& candidate : component)
      edges.push_back({from.try_emplace(candidate.from, from.size()).first->second,
                       to.try_emplace(candidate.to, to.size()).first->second, candidate.score});
    std::optional<CarryAssignment> best = findBestAssignment(from.size(), to.size(), edges);
    std::vector<const Candidate*> chosen;
    for (size_t i = 0; best && i < edges.size(); ++i)
      if (std::any_of(best->edges.begin(), best->edges.end(),
                      [&](const CarryEdge& edge) { return edge.from == edges[i].from && edge.to == edges[i].to; }))
        chosen.push_back(&component[i]);
    std::string why = !best             ? "too many results could be"
                      : !best->isUnique ? "several results could be as well"
                                        : findFault(chosen);
    bool isUnique = best && best->isUnique;
    bool isLost = why.empty() && losesResult(component, chosen);
    if (isLost) why = "a result that could be has no argument";
    for (const Candidate* candidate : chosen)
      for (auto [result, argument] : candidate->leaves) {
        if (why.empty())
          pair(result, argument, CarryBasis::Dataflow);
        else
          doubt(argument, why, result);
      }
    // Others are constant, unless it is open what they get.
    if (isUnique && !isLost) return;
    for (const Candidate& candidate : component)
      for (auto [result, argument] : candidate.leaves) doubt(argument, why, std::nullopt);
  }

  /// The fault of a unique assignment; empty if there is none.
  std::string findFault(std::vector<const Candidate*> chosen) {
    std::sort(chosen.begin(), chosen.end(),
              [](const Candidate* a, const Candidate* b) { return a->leaves.front() < b->leaves.front(); });
    for (size_t i = 1; i < chosen.size(); ++i)
      if (chosen[i]->leaves.front().second < chosen[i - 1]->leaves.front().second)
        return "position pairs them otherwise than dataflow does";
    for (const Candidate* candidate : chosen)
      for (auto [result, argument] : candidate->leaves)
        if (contradictsAlias(result, argument)) return "aliases pair them otherwise than position and dataflow do";
    return "";
  }

  bool contradictsAlias(unsigned result, unsigned argument) const {
    auto alias = aliases.find(result);
    if (alias != aliases.end() && alias->second != argument) return true;
    return problem.arguments[argument].alias.value_or(result) != result;
  }

  /// Whether an argument of the component gets no value while a result, as (x + v, x) of (x, x_before), has no
  /// argument.
  bool losesResult(const std::vector<Candidate>& component, const std::vector<const Candidate*>& chosen) const {
    std::set<unsigned> results, arguments;
    for (const Candidate& candidate : component)
      for (auto [result, argument] : candidate.leaves) {
        results.insert(result);
        arguments.insert(argument);
      }
    for (const Candidate* candidate : chosen)
      for (auto [result, argument] : candidate->leaves) {
        results.erase(result);
        arguments.erase(argument);
      }
    return std::any_of(results.begin(), results.end(), [&](unsigned result) {
      return std::any_of(arguments.begin(), arguments.end(), [&](unsigned argument) {
        return problem.results[result].type == problem.arguments[argument].type;
      });
    });
  }

  //===--- the rest ---===//

  /// Arguments without a next value, for which a result may have been meant.
  void doubtTheRest() {
    for (unsigned argument = 0; argument < problem.arguments.size(); ++argument) {
      const CarryValue& value = problem.arguments[argument];
      if (isPaired[argument] || doubts(argument)) continue;
      if (value.alias && !decision.results[*value.alias]) {
        doubt(argument, "it is donated, but nothing says that this result is its next value", *value.alias);
        continue;
      }
      if (value.isScalar) continue;
      for (unsigned result = 0; result < problem.results.size() && !doubts(argument); ++result)
        if (isOpen(result, argument) && isAnonymous(problem.results[result]) && evidence.depends(result, argument))
          doubt(argument, "a result has its type and depends on it", result);
    }
  }

  bool isOpen(unsigned result, unsigned argument) const {
    return !decision.results[result] && !isPaired[argument] &&
           problem.results[result].type == problem.arguments[argument].type;
  }

  void pair(unsigned result, unsigned argument, CarryBasis basis) {
    bool isSame = evidence.get(result, argument) == Link::Same;
    decision.results[result] = {argument, isSame ? CarryBasis::Unchanged : basis};
    isPaired[argument] = true;
  }

  void doubt(unsigned argument, std::string why, std::optional<unsigned> candidate) {
    decision.doubts.try_emplace(argument, CarryDoubt{std::move(why), candidate});
  }

  bool doubts(unsigned argument) const { return decision.doubts.count(argument) > 0; }

  const CarryProblem& problem;
  CarryEvidence& evidence;
  CarryDecision decision;
  std::vector<bool> isPaired;            // by argument
  std::map<unsigned, unsigned> aliases;  // results to arguments
};

}  // namespace

CarryDecision mlir::sgd::decideCarry(const CarryProblem& problem, CarryEvidence& evidence) {
  return Decider(problem, evidence).run();
}
