// A lazy greedy search: candidates wait in the order of their last known worth and are weighed again when it is their
// turn; all are found anew after a number of choices, since choices make new ones.
#include "passes/remat/recompute_search.h"

#include <algorithm>
#include <queue>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remat/recompute_cone.h"

using namespace mlir::sgd::remat;

namespace {

/// Choices between two rounds over all candidates.
constexpr int kChoicesPerRound = 16;
/// What is executed at most, in multiples of the sequence.
constexpr size_t kMostExecutions = 4;
/// Smaller buffers are not worth a look.
constexpr int64_t kLeastBytes = 64;
/// Stands for the time that no cost model sees, such as handing over an instruction; avoids dividing by zero.
constexpr double kLeastSeconds = 1e-7;

/// A gap between two uses of a version, by the execution that ends it.
struct Candidate {
  double worth = 0;  ///< gain per second
  unsigned version = 0;
  unsigned instance = 0, step = 0;  ///< of the execution
  OperandPolicy policy = OperandPolicy::KeepAll;

  auto getKey() const { return std::tuple(version, instance, step, static_cast<unsigned>(policy)); }
  /// The worthiest is the greatest; ties by what is the same in each compilation.
  bool operator<(const Candidate& other) const {
    return worth != other.worth ? worth < other.worth : getKey() > other.getKey();
  }
};

class Search {
 public:
  Search(const StepSequence& sequence, const Units& units, int64_t budget)
      : timeline(sequence, units), lowest(timeline), budget(budget) {}

  Timeline run() {
    while (timeline.getPeak() > budget && timeline.size() < kMostExecutions * timeline.getSequence().steps.size())
      if (!runRound()) break;
    timeline = std::move(lowest);
    undoUnnecessary(std::max(budget, timeline.getPeak()));
    return std::move(timeline);
  }

 private:
  /// False when nothing was chosen.
  bool runRound() {
    std::priority_queue<Candidate> candidates = findCandidates();
    int choices = 0;
    while (!candidates.empty() && choices < kChoicesPerRound && timeline.getPeak() > budget) {
      Candidate candidate = candidates.top();
      candidates.pop();
      Excess excess(timeline, budget);
      std::optional<Cone> cone = getCone(candidate);
      if (!cone) continue;
      double known = candidate.worth;
      candidate.worth = getWorth(excess, *cone);
      if (candidate.worth <= 0) continue;
      if (candidate.worth < known * 0.999 && !candidates.empty() && candidate < candidates.top()) {
        candidates.push(candidate);
        continue;
      }
      if (choose(*cone, excess)) ++choices;
    }
    return choices > 0;
  }

  std::priority_queue<Candidate> findCandidates() {
    std::vector<Candidate> found;
    Excess excess(timeline, budget);
    llvm::DenseSet<std::pair<unsigned, int>> known;  // unit and position: other buffers of a unit have the same cones
    for (unsigned version = 0; version < timeline.getNumVersions(); ++version) {
      unsigned buffer = timeline.getBuffer(version);
      std::optional<unsigned> writer = timeline.getUnits().getWriter(buffer);
      if (!writer || timeline.getSequence().buffers[buffer].bytes < kLeastBytes ||
          !timeline.getUnits().isRepeatable(*writer))
        continue;
      llvm::ArrayRef<int> uses = timeline.getUses(version);
      for (size_t i = 1; i < uses.size(); ++i) {
        const Execution& reader = timeline[uses[i]];
        if (!excess.isAnyBetween(uses[i - 1], uses[i]) || llvm::is_contained(reader.writes, version)) continue;
        for (OperandPolicy policy : {OperandPolicy::KeepAll, OperandPolicy::KeepSmall, OperandPolicy::RecomputeAll}) {
          Candidate candidate{0, version, reader.instance, reader.step, policy};
          std::optional<Cone> cone = findCone(timeline, version, uses[i], policy);
          if (!cone) continue;
          candidate.worth = getWorth(excess, *cone);
          if (candidate.worth > 0) found.push_back(candidate);
        }
      }
    }
    return std::priority_queue<Candidate>(std::less<Candidate>(), std::move(found));
  }

  /// The cone at the place where the candidate's reader is by now; nullopt when the gap is no longer there.
  std::optional<Cone> getCone(const Candidate& candidate) const {
    llvm::ArrayRef<int> uses = timeline.getUses(candidate.version);
    for (size_t i = 1; i < uses.size(); ++i) {
      const Execution& reader = timeline[uses[i]];
      if (reader.instance == candidate.instance && reader.step == candidate.step)
        return findCone(timeline, candidate.version, uses[i], candidate.policy);
    }
    return std::nullopt;
  }

  double getWorth(const Excess& excess, const Cone& cone) const {
    double seconds = cone.seconds;
    // An execution whose results nobody reads before moves.
    for (unsigned unit : cone.units)
      if (moves(unit, cone.position)) seconds -= timeline.getUnits().getSeconds(unit);
    return excess.getGain(timeline, cone) / (std::max(seconds, 0.0) + kLeastSeconds * cone.units.size());
  }

  bool moves(unsigned unit, int position) const {
    return llvm::all_of(timeline.getUnits().getWritten(unit), [&](unsigned buffer) {
      return llvm::all_of(timeline.getUses(timeline.getVersionAt(buffer, position)), [&](int use) {
        return use >= position || timeline.getUnits().getUnit(timeline[use].step) == unit;
      });
    });
  }

  /// Applies the cone if it lowers the excess as counted, not only as estimated.
  bool choose(const Cone& cone, const Excess& before) {
    Timeline saved = timeline;
    timeline.repeat(cone.units, cone.position);
    if (Excess(timeline, budget).getTotal() >= before.getTotal()) {
      timeline = std::move(saved);
      return false;
    }
    if (timeline.getPeak() < lowest.getPeak()) lowest = timeline;
    return true;
  }

  /// Whatever does not raise the peak above `goal`.
  void undoUnnecessary(int64_t goal) {
    std::vector<std::pair<double, unsigned>> added;
    for (size_t position = 0; position < timeline.size(); ++position) {
      const Execution& execution = timeline[position];
      added.push_back(
          {-timeline.getUnits().getSeconds(timeline.getUnits().getUnit(execution.step)), execution.instance});
    }
    std::vector<unsigned> repeated = timeline.getAddedInstances();
    llvm::erase_if(added, [&](const auto& entry) { return !llvm::is_contained(repeated, entry.second); });
    llvm::sort(added);
    added.erase(std::unique(added.begin(), added.end()), added.end());
    for (auto [_, instance] : added) {
      Timeline saved = timeline;
      if (!timeline.drop(instance) || timeline.getPeak() > goal) timeline = std::move(saved);
    }
  }

  Timeline timeline, lowest;  // lowest: of all that the search has had, the one that peaks lowest
  const int64_t budget;
};

}  // namespace

Timeline mlir::sgd::remat::chooseRecomputation(const StepSequence& sequence, const Units& units, int64_t budget) {
  return Search(sequence, units, budget).run();
}
