// A lazy greedy search: candidates wait in the order of their last known worth and are weighed again when it is their
// turn; all are found anew after a number of choices, since choices make new ones.
#include "passes/plan/recompute/recompute_search.h"

#include <algorithm>
#include <queue>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/offload_choice.h"
#include "passes/plan/recompute/recompute_cone.h"

using namespace mlir::sgd::remat;

namespace {

/// Choices between two rounds over all candidates. Copies depend on each other less than what runs again.
constexpr int kChoicesPerRound = 16, kChoicesPerRoundOfCopies = 32;
/// Long sequences have more choices in a round, one for so many steps: finding all candidates takes time by their
/// length.
constexpr int kStepsPerChoice = 64;
/// Largest number of executed steps, in multiples of the sequence.
constexpr size_t kMostExecutions = 4;
/// Smaller buffers are not worth a look.
constexpr int64_t kLeastBytes = 64;
/// Stands for the time that no cost model sees, such as handing over an instruction; avoids dividing by zero.
constexpr double kLeastSeconds = 1e-7;

/// The means of a candidate; the first ones recompute, each by an OperandPolicy.
enum class Means : unsigned { KeepAll, KeepSmall, RecomputeAll, Offload, OffloadState, Tighten };

/// A gap between two uses of a version, by the execution that ends it; state, or a copy of it.
struct Candidate {
  double worth = 0;  ///< gain per second
  unsigned version = 0;
  unsigned instance = 0, step = 0;  ///< of the execution
  Means means = Means::KeepAll;

  auto getKey() const { return std::tuple(version, instance, step, static_cast<unsigned>(means)); }
  /// The worthiest is the greatest; ties by what is the same in each compilation.
  bool operator<(const Candidate& other) const {
    return worth != other.worth ? worth < other.worth : getKey() > other.getKey();
  }
};

/// A change of the timeline, and its worth.
struct Choice {
  double worth = 0;
  std::optional<Cone> cone;  ///< else `offload`
  OffloadChoice offload;

  void apply(Timeline& timeline) const {
    cone ? timeline.repeat(cone->units, cone->position) : offload.apply(timeline);
  }
};

class Search {
 public:
  Search(const StepSequence& sequence, const Units& units, int64_t budget)
      : timeline(sequence, units), budget(budget), excess(timeline, budget), cones(timeline) {
    bool hasCopies = llvm::any_of(sequence.buffers, [](const Buffer& buffer) { return buffer.hostSeconds != 0; });
    choicesPerRound = std::max(hasCopies ? kChoicesPerRoundOfCopies : kChoicesPerRound,
                               static_cast<int>(sequence.steps.size()) / kStepsPerChoice);
  }

  Timeline run() {
    lowest = timeline.getMark();
    lowestPeak = timeline.getPeak();
    while (timeline.getPeak() > budget && timeline.size() < kMostExecutions * timeline.getSequence().steps.size())
      if (!runRound()) break;
    timeline.rollBack(lowest);
    const int64_t goal = std::max(budget, timeline.getPeak());
    undoUnnecessary(goal);
    hideCopies(timeline, goal);
    return std::move(timeline);
  }

 private:
  /// False when nothing was chosen.
  bool runRound() {
    std::priority_queue<Candidate> candidates = findCandidates();
    int choices = 0;
    while (!candidates.empty() && choices < choicesPerRound && timeline.getPeak() > budget) {
      Candidate candidate = candidates.top();
      candidates.pop();
      std::optional<Choice> choice = getChoice(candidate);
      if (!choice) continue;
      double known = candidate.worth;
      candidate.worth = choice->worth;
      if (candidate.worth <= 0) continue;
      if (candidate.worth < known * 0.999 && !candidates.empty() && candidate < candidates.top()) {
        candidates.push(candidate);
        continue;
      }
      if (choose(*choice)) ++choices;
    }
    return choices > 0;
  }

  std::priority_queue<Candidate> findCandidates() {
    std::vector<Candidate> found;
    auto add = [&](Candidate candidate, const std::optional<Choice>& choice) {
      if (!choice || choice->worth <= 0) return;
      candidate.worth = choice->worth;
      found.push_back(candidate);
    };
    for (unsigned version = 0; version < timeline.getNumVersions(); ++version) {
      const Buffer& buffer = timeline.getSequence().buffers[timeline.getBuffer(version)];
      if (std::max(buffer.bytes, buffer.stateBytes) < kLeastBytes) continue;
      Candidate state{0, version, 0, 0, Means::OffloadState};
      if (buffer.stateBytes != 0 && version == timeline.getBuffer(version)) add(state, getChoice(state));
      Uses uses = timeline.getUses(version);
      for (size_t i = 1; i < uses.size(); ++i) {
        const Execution& reader = timeline[uses[i]];
        if (!excess.isAnyBetween(uses[i - 1], uses[i]) || llvm::is_contained(reader.writes, version)) continue;
        const Candidate gap{0, version, reader.instance, reader.step, Means::Offload};
        addCones(found, gap, uses[i]);
        add(gap, getGapChoice(version, uses[i], Means::Offload));
      }
    }
    for (size_t position = 0; position < timeline.size(); ++position)
      if (timeline[position].isCopy()) {
        Candidate tighter{0, 0, timeline[position].instance, 0, Means::Tighten};
        add(tighter, getChoice(tighter));
      }
    return std::priority_queue<Candidate>(std::less<Candidate>(), std::move(found));
  }

  /// The ways to close the gap by recomputation. Most gaps have the same cone whatever the policy is.
  void addCones(std::vector<Candidate>& found, Candidate gap, int reader) {
    if (!mayRunAgain(gap.version, reader)) return;
    for (unsigned policy = 0; policy <= static_cast<unsigned>(OperandPolicy::RecomputeAll);) {
      const Cone* cone = cones.find(gap.version, reader, static_cast<OperandPolicy>(policy));
      gap.worth = cone ? getWorth(*cone) : 0;
      for (const auto last = static_cast<unsigned>(cones.getLastAlike()); policy <= last; ++policy) {
        gap.means = static_cast<Means>(policy);
        if (gap.worth > 0) found.push_back(gap);
      }
    }
  }

  bool mayRunAgain(unsigned version, int reader) const {
    std::optional<unsigned> writer = timeline.getUnits().getWriter(timeline.getBuffer(version));
    return writer && timeline.getUnits().isRepeatable(*writer) && !timeline.isOnHost(version) &&
           !timeline[reader].isCopy();
  }

  /// The candidate in the current timeline; nullopt if it no longer exists.
  std::optional<Choice> getChoice(const Candidate& candidate) {
    if (candidate.means == Means::OffloadState) return getBest(findStateOffloads(timeline, excess, candidate.version));
    if (candidate.means == Means::Tighten) return getTighter(candidate.instance);
    Uses uses = timeline.getUses(candidate.version);
    for (size_t i = 1; i < uses.size(); ++i) {
      const Execution& reader = timeline[uses[i]];
      if (!reader.isCopy() && reader.instance == candidate.instance && reader.step == candidate.step)
        return getGapChoice(candidate.version, uses[i], candidate.means);
    }
    return std::nullopt;
  }

  std::optional<Choice> getGapChoice(unsigned version, int reader, Means means) {
    if (means == Means::Offload) return getBest(findGapOffloads(timeline, excess, version, reader));
    if (!mayRunAgain(version, reader)) return std::nullopt;
    const Cone* cone = cones.find(version, reader, static_cast<OperandPolicy>(means));
    if (!cone) return std::nullopt;
    return Choice{getWorth(*cone), *cone, {}};
  }

  std::optional<Choice> getTighter(unsigned instance) const {
    for (size_t position = 0; position < timeline.size(); ++position) {
      if (timeline[position].instance != instance || timeline[position].kind == Execution::Kind::CopyOut) continue;
      std::optional<OffloadChoice> tighter = findTighter(timeline, excess, static_cast<int>(position));
      if (tighter) return getBest(*tighter);
    }
    return std::nullopt;
  }

  /// The one that gains most per second.
  std::optional<Choice> getBest(llvm::ArrayRef<OffloadChoice> offloads) const {
    std::optional<Choice> best;
    for (const OffloadChoice& offload : offloads) {
      const double worth = excess.getGain(offload.changes) / (offload.seconds + kLeastSeconds);
      if (!best || worth > best->worth) best = Choice{worth, std::nullopt, offload};
    }
    return best;
  }

  double getWorth(const Cone& cone) const {
    double seconds = cone.seconds;
    // An execution whose results nobody reads before moves.
    for (unsigned unit : cone.units)
      if (moves(unit, cone.position)) seconds -= timeline.getUnits().getSeconds(unit);
    return excess.getGain(timeline, cone) / (std::max(seconds, 0.0) + kLeastSeconds * cone.units.size());
  }

  bool moves(unsigned unit, int position) const {
    return llvm::all_of(timeline.getUnits().getWritten(unit), [&](unsigned buffer) {
      return llvm::all_of(timeline.getUses(timeline.getVersionAt(buffer, position)), [&](int use) {
        return use >= position || (!timeline[use].isCopy() && timeline.getUnits().getUnit(timeline[use].step) == unit);
      });
    });
  }

  /// Applies the choice if it lowers the excess as counted, not only as estimated.
  bool choose(const Choice& choice) {
    const Timeline::Mark before = timeline.getMark();
    choice.apply(timeline);
    if (Excess::count(timeline, budget) >= excess.getTotal()) {
      timeline.rollBack(before);
      return false;
    }
    excess.update(timeline);
    if (timeline.getPeak() < lowestPeak) {
      lowest = timeline.getMark();
      lowestPeak = timeline.getPeak();
    }
    return true;
  }

  /// Undoes changes that the peak stays below `goal` without: first recomputations, then copies.
  void undoUnnecessary(int64_t goal) {
    std::vector<std::pair<double, unsigned>> added;
    for (size_t position = 0; position < timeline.size(); ++position) {
      const Execution& execution = timeline[position];
      double seconds =
          execution.isCopy() ? 0 : timeline.getUnits().getSeconds(timeline.getUnits().getUnit(execution.step));
      added.push_back({-seconds, execution.instance});
    }
    std::vector<unsigned> repeated = timeline.getAddedInstances();
    llvm::erase_if(added, [&](const auto& entry) { return !llvm::is_contained(repeated, entry.second); });
    llvm::sort(added);
    added.erase(std::unique(added.begin(), added.end()), added.end());
    auto undo = [&](llvm::function_ref<bool()> change) {
      const Timeline::Mark before = timeline.getMark();
      if (!change() || timeline.getPeak() > goal) timeline.rollBack(before);
    };
    for (auto [_, instance] : added) undo([&, instance = instance] { return timeline.drop(instance); });
    llvm::SmallVector<unsigned> states(timeline.getStateOnHost());
    for (unsigned state : states) undo([&] { return timeline.keepOnDevice(state); });
  }

  Timeline timeline;
  const int64_t budget;
  Excess excess;  // of the timeline
  ConeFinder cones;
  Timeline::Mark lowest;  // of all states that the search has had, the one that peaks lowest
  int64_t lowestPeak = 0;
  int choicesPerRound = 0;
};

}  // namespace

Timeline mlir::sgd::remat::chooseRecomputation(const StepSequence& sequence, const Units& units, int64_t budget) {
  return Search(sequence, units, budget).run();
}
