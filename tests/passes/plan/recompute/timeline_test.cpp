// Timelines under random changes: after each one, all that a timeline keeps up to date is what an analysis of its
// executions from the start says; and changes that are taken back leave nothing behind.
#include "passes/plan/recompute/timeline.h"

#include <map>
#include <random>

#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/offload_choice.h"
#include "passes/plan/recompute/recompute_cone.h"

namespace mlir::sgd::remat {
namespace {

using Kind = Execution::Kind;

/// A timeline's uses, bytes and times, computed from its executions alone.
class Analysis {
 public:
  explicit Analysis(const Timeline& timeline) : timeline(timeline), buffers(timeline.getSequence().buffers) {
    uses.resize(timeline.getNumVersions());
    made.assign(timeline.getNumVersions(), -1);
    for (int position = 0; position < getSize(); ++position) {
      const Execution& execution = timeline[position];
      for (auto* operands : {&execution.reads, &execution.writes})
        for (unsigned version : *operands)
          if (uses[version].empty() || uses[version].back() != position) uses[version].push_back(position);
      for (unsigned version : execution.writes) made[version] = position;
    }
    countAlive();
    countTimes();
  }

  void check() const {
    for (unsigned version = 0; version < uses.size(); ++version) {
      Uses known = timeline.getUses(version);
      ASSERT_EQ(std::vector<int>(known.begin(), known.end()), uses[version]) << "version " << version;
      ASSERT_EQ(timeline.getMade(version), made[version]) << "version " << version;
      ASSERT_EQ(timeline.getCountedBytes(version), getCountedBytes(version)) << "version " << version;
    }
    for (int position = 0; position < getSize(); ++position) {
      ASSERT_EQ(timeline.getAlive(position), alive[position]) << "position " << position;
      ASSERT_EQ(timeline.getStart(position), starts[position]) << "position " << position;
      ASSERT_EQ(timeline.getFreeOut(position), freeOut[position]) << "position " << position;
      ASSERT_EQ(timeline.getFreeIn(position), freeIn[position]) << "position " << position;
    }
    ASSERT_EQ(timeline.getPeak(), *llvm::max_element(alive));
    ASSERT_EQ(timeline.getSeconds(), seconds);
    for (unsigned buffer = 0; buffer < buffers.size(); ++buffer) {
      if (buffers[buffer].isKept) ASSERT_EQ(timeline.getOverwritten(buffer), getOverwritten(buffer));
      for (int position = 0; position < getSize(); ++position)
        ASSERT_EQ(timeline.getVersionAt(buffer, position), getVersionAt(buffer, position));
    }
  }

 private:
  int getSize() const { return static_cast<int>(timeline.size()); }
  bool isSequenced(unsigned version) const { return version < buffers.size(); }
  const Step& getStep(const Execution& execution) const {
    static const Step copy;
    return execution.isCopy() ? copy : timeline.getSequence().steps[execution.step];
  }

  int64_t getCountedBytes(unsigned version) const {
    const Buffer& buffer = buffers[timeline.getBuffer(version)];
    if (uses[version].empty() || timeline.isOnHost(version)) return 0;
    if (buffer.isKept) return isSequenced(version) ? 0 : buffer.stateBytes;
    if (!buffer.destination || uses[version].back() + 1 != getSize()) return buffer.bytes;
    const std::vector<int>& readers = uses[*buffer.destination];
    return readers.empty() || readers.back() <= uses[version].front() ? 0 : buffer.bytes;
  }

  int64_t getReusedBytes(int position) const {
    const Execution& execution = timeline[position];
    const Step& step = getStep(execution);
    std::vector<unsigned> taken;
    int64_t reused = 0;
    for (auto [written, read] : step.inPlace) {
      unsigned target = execution.writes[llvm::find(step.writes, written) - step.writes.begin()];
      unsigned source = execution.reads[llvm::find(step.reads, read) - step.reads.begin()];
      bool dies = uses[source].back() == position && uses[target].front() == position;
      if (!dies || getCountedBytes(source) != getCountedBytes(target) || llvm::is_contained(taken, source) ||
          llvm::is_contained(taken, target))
        continue;
      taken.insert(taken.end(), {source, target});
      reused += getCountedBytes(source);
    }
    return reused;
  }

  void countAlive() {
    alive.assign(getSize(), 0);
    for (int position = 0; position < getSize(); ++position) {
      for (unsigned buffer = 0; buffer < buffers.size(); ++buffer)
        if (!timeline.isOnHost(buffer)) alive[position] += buffers[buffer].stateBytes;
      for (unsigned version = 0; version < uses.size(); ++version)
        if (!uses[version].empty() && uses[version].front() <= position && position <= uses[version].back())
          alive[position] += getCountedBytes(version);
      alive[position] += getStep(timeline[position]).scratchBytes - getReusedBytes(position);
    }
  }

  void countTimes() {
    std::map<unsigned, double> ends;
    double outgoing = 0, incoming = 0;
    for (int position = 0; position < getSize(); ++position) {
      const Execution& execution = timeline[position];
      freeOut.push_back(outgoing);
      freeIn.push_back(incoming);
      if (execution.kind == Kind::Step)
        for (unsigned version : execution.reads)
          if (!timeline.isOnHost(version)) seconds = std::max(seconds, ends[version]);
      if (execution.kind == Kind::CopiedOut) seconds = std::max(seconds, ends[execution.writes.front()]);
      if (execution.kind == Kind::CopyOut || execution.kind == Kind::CopyIn) {
        double& isFree = execution.kind == Kind::CopyOut ? outgoing : incoming;
        isFree = std::max(seconds, isFree) + buffers[timeline.getBuffer(execution.reads.front())].hostSeconds;
        ends[execution.writes.front()] = isFree;
      }
      starts.push_back(seconds);
      seconds += getStep(execution).seconds;
    }
  }

  unsigned getVersionAt(unsigned buffer, int position) const {
    unsigned best = buffer;
    int latest = -2;
    for (unsigned version = 0; version < uses.size(); ++version) {
      if (timeline.getBuffer(version) != buffer || timeline.isOnHost(version)) continue;
      if (made[version] >= position || made[version] <= latest) continue;
      if (made[version] < 0 && !buffers[buffer].isKept) continue;
      best = version;
      latest = made[version];
    }
    return best;
  }

  int getOverwritten(unsigned kept) const {
    int first = getSize();
    for (unsigned result : timeline[getSize() - 1].reads)
      if (buffers[timeline.getBuffer(result)].destination == kept && !timeline.isOnHost(result))
        first = std::min(first, uses[result].front());
    return first;
  }

  const Timeline& timeline;
  const std::vector<Buffer>& buffers;
  std::vector<std::vector<int>> uses;           // by version
  std::vector<int> made;                        // by version
  std::vector<int64_t> alive;                   // by position
  std::vector<double> starts, freeOut, freeIn;  // by position
  double seconds = 0;
};

/// Executions as text, to compare timelines by.
std::string print(const Timeline& timeline) {
  std::string text;
  for (size_t position = 0; position < timeline.size(); ++position) {
    const Execution& execution = timeline[position];
    text += std::to_string(static_cast<int>(execution.kind)) + ":" + std::to_string(execution.step) + "#" +
            std::to_string(execution.instance);
    for (unsigned version : execution.reads) text += " " + std::to_string(version);
    for (unsigned version : execution.writes) text += " >" + std::to_string(version);
    text += "\n";
  }
  for (unsigned state : timeline.getStateOnHost()) text += "host " + std::to_string(state) + "\n";
  return text;
}

/// Random graphs of one to two states with next values, units of two steps, results in place of operands and arguments.
class RandomSequence {
 public:
  explicit RandomSequence(std::mt19937& random) : random(random) {
    std::vector<unsigned> values;
    for (size_t i = 0; i < 2 + pick(2); ++i) values.push_back(addBuffer(0, /*isKept=*/true));
    const size_t states = values.size();
    for (size_t i = 0; i < 4 + pick(24); ++i) addStep(values);
    Step& end = sequence.steps.emplace_back();
    for (size_t i = 0; i < states; ++i) {
      unsigned next = values[values.size() - 1 - i];
      end.reads.push_back(next);
      if (pick(3) != 0) sequence.buffers[next].destination = i;
      if (pick(3) != 0 && sequence.buffers[next].destination)
        sequence.buffers[i].stateBytes = sequence.buffers[next].bytes;
    }
  }

  StepSequence sequence;

 private:
  size_t pick(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); }

  unsigned addBuffer(int64_t bytes, bool isKept) {
    sequence.buffers.push_back({bytes, isKept, std::nullopt, static_cast<double>(pick(4)), 0});
    return sequence.buffers.size() - 1;
  }

  void addStep(std::vector<unsigned>& values) {
    Step step;
    for (size_t i = 0; i <= pick(3); ++i)
      if (unsigned value = values[pick(values.size())]; !llvm::is_contained(step.reads, value))
        step.reads.push_back(value);
    step.seconds = 1 + static_cast<double>(pick(9));
    step.isRepeatable = pick(8) != 0;
    step.scratchBytes = pick(6) == 0 ? 64 : 0;
    step.writes.push_back(addBuffer(64 * static_cast<int64_t>(1 + pick(3)), /*isKept=*/false));
    if (pick(2) == 0) step.inPlace = {{step.writes.front(), step.reads.front()}};
    values.push_back(step.writes.front());
    sequence.steps.push_back(step);
    if (pick(6) != 0) return;
    step.inPlace.clear();
    step.reads = {step.reads.front(), step.writes.front()};
    sequence.steps.push_back(step);
  }

  std::mt19937& random;
};

/// Makes a change that the search could make; false where the one that was tried is not possible.
class RandomChange {
 public:
  RandomChange(Timeline& timeline, std::mt19937& random) : timeline(timeline), random(random) {}

  bool apply() {
    const Excess excess(timeline, timeline.getPeak() / 2);
    const unsigned version = pick(timeline.getNumVersions());
    const Uses uses = timeline.getUses(version);
    const std::vector<unsigned> added = timeline.getAddedInstances();
    switch (pick(6)) {
      case 0:
      case 1:
        return uses.size() > 1 && repeat(version, uses[1 + pick(uses.size() - 1)]);
      case 2:
        return uses.size() > 1 && applyOne(findGapOffloads(timeline, excess, version, uses[1 + pick(uses.size() - 1)]));
      case 3:
        return timeline.getBuffer(version) == version && applyOne(findStateOffloads(timeline, excess, version));
      case 4:
        if (std::optional<OffloadChoice> tighter = findTighter(timeline, excess, pick(timeline.size())))
          return applyOne(*tighter);
        return false;
      default:
        if (!timeline.getStateOnHost().empty() && pick(3) == 0)
          return timeline.keepOnDevice(timeline.getStateOnHost().front());
        return !added.empty() && timeline.drop(added[pick(added.size())]);
    }
  }

 private:
  size_t pick(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); }

  bool repeat(unsigned version, int reader) {
    std::optional<unsigned> writer = timeline.getUnits().getWriter(timeline.getBuffer(version));
    if (!writer || !timeline.getUnits().isRepeatable(*writer) || timeline.isOnHost(version) ||
        timeline[reader].isCopy() || llvm::is_contained(timeline[reader].writes, version))
      return false;
    ConeFinder cones(timeline);
    const Cone* cone = cones.find(version, reader, static_cast<OperandPolicy>(pick(3)));
    if (cone) timeline.repeat(cone->units, cone->position);
    return cone != nullptr;
  }

  bool applyOne(llvm::ArrayRef<OffloadChoice> choices) {
    if (choices.empty()) return false;
    choices[pick(choices.size())].apply(timeline);
    return true;
  }

  Timeline& timeline;
  std::mt19937& random;
};

TEST(Timeline, IsWhatAnAnalysisFromTheStartSays) {
  int changes = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const StepSequence sequence = RandomSequence(random).sequence;
    const Units units(sequence);
    Timeline timeline(sequence, units);
    Analysis(timeline).check();
    for (int change = 0; change < 40 && !testing::Test::HasFatalFailure(); ++change) {
      if (!RandomChange(timeline, random).apply()) continue;
      ++changes;
      Analysis(timeline).check();
    }
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
  EXPECT_GT(changes, 2000);
}

TEST(Timeline, RollsBackToEachMark) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const StepSequence sequence = RandomSequence(random).sequence;
    const Units units(sequence);
    Timeline timeline(sequence, units);
    std::vector<std::pair<Timeline::Mark, std::string>> states;
    for (int change = 0; change < 60; ++change) {
      if (std::uniform_int_distribution<int>(0, 3)(random) == 0 && !states.empty()) {
        // Back by some states; what was changed since is forgotten.
        states.resize(1 + std::uniform_int_distribution<size_t>(0, states.size() - 1)(random));
        timeline.rollBack(states.back().first);
        ASSERT_EQ(print(timeline), states.back().second);
        Analysis(timeline).check();
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        continue;
      }
      states.push_back({timeline.getMark(), print(timeline)});
      RandomChange(timeline, random).apply();
    }
  }
}

}  // namespace
}  // namespace mlir::sgd::remat
