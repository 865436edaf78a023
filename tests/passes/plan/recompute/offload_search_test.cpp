// The search where buffers may be on the host: programs compute the same, nothing is read where it is not, what is said
// to be alive is alive, and what costs least is chosen.
#include <map>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/offload_choice.h"
#include "passes/plan/recompute/recompute_search.h"

namespace mlir::sgd::remat {
namespace {

using Kind = Execution::Kind;
constexpr int64_t kBytes = 1024;

/// Builds sequences value by value, all of which may be on the host.
class Builder {
 public:
  explicit Builder(double hostSeconds) : hostSeconds(hostSeconds) {}

  unsigned state() { return add({0, /*isKept=*/true, std::nullopt, hostSeconds, kBytes}); }
  unsigned argument() { return add({0, /*isKept=*/true, std::nullopt, 0, 0}); }

  unsigned step(llvm::ArrayRef<unsigned> reads, double seconds = 1, int64_t bytes = kBytes, bool isRepeatable = false) {
    unsigned result = add({bytes, false, std::nullopt, hostSeconds, 0});
    sequence.steps.push_back({seconds, {reads.begin(), reads.end()}, {result}, {}, 0, isRepeatable});
    return result;
  }

  StepSequence finish(llvm::ArrayRef<unsigned> results) {
    sequence.steps.push_back({0, {results.begin(), results.end()}, {}, {}, 0, false});
    return sequence;
  }

  StepSequence sequence;
  double hostSeconds;

 private:
  unsigned add(Buffer buffer) {
    sequence.buffers.push_back(buffer);
    return sequence.buffers.size() - 1;
  }
};

bool isKept(const Timeline& timeline, unsigned version) {
  const std::vector<Buffer>& buffers = timeline.getSequence().buffers;
  return version < buffers.size() && buffers[version].isKept;
}

/// Executes a timeline: each step is a function of what it reads.
class Evaluation {
 public:
  explicit Evaluation(const Timeline& timeline) : timeline(timeline) {
    for (position = 0; position < timeline.size(); ++position) run(timeline[position]);
  }

  /// What the end of the program reads.
  std::vector<size_t> results;

 private:
  size_t read(unsigned version) {
    auto known = values.find(version);
    if (known != values.end()) return known->second;
    EXPECT_TRUE(isKept(timeline, version)) << "position " << position << " reads what is not there";
    return version + 1;
  }

  void run(const Execution& execution) {
    switch (execution.kind) {
      case Kind::Step:
        return runStep(execution);
      case Kind::CopyOut:
        EXPECT_FALSE(timeline.isOnHost(execution.reads.front()));
        EXPECT_TRUE(timeline.isOnHost(execution.writes.front()));
        inFlight[execution.instance] = read(execution.reads.front());
        return;
      case Kind::CopiedOut:
        ASSERT_EQ(inFlight.at(execution.instance), read(execution.reads.front())) << "overwritten while it is copied";
        values[execution.writes.front()] = inFlight.at(execution.instance);
        return;
      case Kind::CopyIn:
        EXPECT_TRUE(timeline.isOnHost(execution.reads.front()));
        values[execution.writes.front()] = read(execution.reads.front());
        return;
    }
  }

  void runStep(const Execution& execution) {
    const Step& step = timeline.getSequence().steps[execution.step];
    const bool isEnd = position + 1 == timeline.size();
    size_t term = llvm::hash_value(execution.step);
    ASSERT_EQ(execution.reads.size(), step.reads.size());
    for (auto [version, buffer] : llvm::zip_equal(execution.reads, step.reads)) {
      EXPECT_TRUE(isEnd || !timeline.isOnHost(version))
          << "position " << position << " computes with what is on the host";
      bool isFirstWrite = llvm::is_contained(execution.writes, version) && !values.contains(version);
      size_t value = isFirstWrite ? 0 : read(version);
      if (isEnd) results.push_back(value);
      term = llvm::hash_combine(term, value);
    }
    for (unsigned version : execution.writes) values[version] = llvm::hash_combine(term, timeline.getBuffer(version));
  }

  const Timeline& timeline;
  size_t position = 0;
  std::map<unsigned, size_t> values;    // by version
  std::map<unsigned, size_t> inFlight;  // by instance
};

std::vector<size_t> evaluate(const Timeline& timeline) { return Evaluation(timeline).results; }

/// The peak, counted position by position; of sequences without results in arguments' place but for state on the host.
int64_t countPeak(const Timeline& timeline) {
  const std::vector<Buffer>& buffers = timeline.getSequence().buffers;
  std::map<unsigned, std::pair<size_t, size_t>> lifetimes;
  for (size_t position = 0; position < timeline.size(); ++position)
    for (auto* list : {&timeline[position].reads, &timeline[position].writes})
      for (unsigned version : *list) {
        if (timeline.isOnHost(version) || isKept(timeline, version)) continue;
        lifetimes.try_emplace(version, position, position);
        lifetimes[version].second = position;
      }
  int64_t peak = 0;
  for (size_t position = 0; position < timeline.size(); ++position) {
    int64_t alive = 0;
    for (unsigned buffer = 0; buffer < buffers.size(); ++buffer)
      if (!timeline.isOnHost(buffer)) alive += buffers[buffer].stateBytes;
    for (auto [version, lifetime] : lifetimes) {
      const Buffer& buffer = buffers[timeline.getBuffer(version)];
      if (lifetime.first <= position && position <= lifetime.second)
        alive += buffer.isKept ? buffer.stateBytes : buffer.bytes;
    }
    peak = std::max(peak, alive);
  }
  return peak;
}

size_t count(const Timeline& timeline, Kind kind) {
  size_t found = 0;
  for (size_t position = 0; position < timeline.size(); ++position) found += timeline[position].kind == kind;
  return found;
}

/// `layers` values, each of the one before, which a second chain reads in reverse, as a backward pass does.
StepSequence getNetwork(int layers, double hostSeconds, bool isRepeatable = false) {
  Builder builder(hostSeconds);
  std::vector<unsigned> forward = {builder.argument()};
  for (int i = 0; i < layers; ++i) forward.push_back(builder.step({forward.back()}, 1, kBytes, isRepeatable));
  unsigned gradient = builder.step({forward.back()});
  for (int i = layers; i > 0; --i) gradient = builder.step({gradient, forward[i]});
  return builder.finish({gradient});
}

TEST(OffloadSearch, HidesCopiesThatAreFast) {
  StepSequence sequence = getNetwork(16, 0.5);
  Units units(sequence);
  Timeline given(sequence, units);
  // Two of the layer, two of its copies under way, and two gradients.
  for (int64_t budget = given.getPeak(); budget >= 6 * kBytes; budget -= kBytes) {
    Timeline found = chooseRecomputation(sequence, units, budget);
    EXPECT_LE(found.getPeak(), budget);
    EXPECT_EQ(found.getPeak(), countPeak(found));
    EXPECT_EQ(evaluate(found), evaluate(given));
    EXPECT_DOUBLE_EQ(found.getSeconds(), given.getSeconds()) << budget;
    EXPECT_EQ(count(found, Kind::CopyOut), count(found, Kind::CopiedOut));
    EXPECT_EQ(count(found, Kind::CopyOut), count(found, Kind::CopyIn));
  }
}

TEST(OffloadSearch, WaitsWhereMemoryIsTooShortToHide) {
  StepSequence sequence = getNetwork(16, 4);
  Units units(sequence);
  Timeline given(sequence, units);
  double before = given.getSeconds();
  for (int64_t budget = given.getPeak(); budget >= 4 * kBytes; budget -= kBytes) {
    Timeline found = chooseRecomputation(sequence, units, budget);
    EXPECT_LE(found.getPeak(), budget);
    EXPECT_EQ(found.getPeak(), countPeak(found));
    EXPECT_EQ(evaluate(found), evaluate(given));
    EXPECT_GE(found.getSeconds(), before);
    // No copy takes longer than if the device waited for each.
    EXPECT_LE(found.getSeconds(),
              given.getSeconds() + 4.0 * (count(found, Kind::CopyOut) + count(found, Kind::CopyIn)));
  }
}

TEST(OffloadSearch, RecomputesWhatIsCheaper) {
  for (double hostSeconds : {0.01, 1000.0}) {
    StepSequence sequence = getNetwork(16, hostSeconds, /*isRepeatable=*/true);
    Units units(sequence);
    Timeline given(sequence, units), found = chooseRecomputation(sequence, units, given.getPeak() * 2 / 3);
    EXPECT_LE(found.getPeak(), given.getPeak() * 2 / 3);
    EXPECT_EQ(evaluate(found), evaluate(given));
    size_t copies = count(found, Kind::CopyOut), steps = count(found, Kind::Step);
    EXPECT_EQ(copies > 0, hostSeconds < 1) << hostSeconds;
    EXPECT_EQ(steps > sequence.steps.size(), hostSeconds > 1) << hostSeconds;
  }
}

/// A forward and a backward pass, then an update of each of `states` states in its place.
StepSequence getTraining(int layers, int states, double hostSeconds) {
  Builder builder(hostSeconds);
  std::vector<unsigned> moments, next, forward = {builder.argument()};
  for (int i = 0; i < states; ++i) moments.push_back(builder.state());
  for (int i = 0; i < layers; ++i) forward.push_back(builder.step({forward.back()}));
  unsigned gradient = forward.back();
  for (int i = layers; i > 0; --i) gradient = builder.step({gradient, forward[i]});
  for (unsigned moment : moments) {
    next.push_back(builder.step({moment, gradient}));
    builder.sequence.steps.back().inPlace = {{next.back(), moment}};
    builder.sequence.buffers[next.back()].destination = moment;
  }
  return builder.finish(next);
}

TEST(OffloadSearch, StatesAreOnTheHostBetweenSteps) {
  StepSequence sequence = getTraining(8, 12, 0.25);
  Units units(sequence);
  Timeline given(sequence, units);
  EXPECT_EQ(given.getPeak(), (12 + 9) * kBytes);
  for (int64_t budget = given.getPeak() - kBytes; budget >= 10 * kBytes; budget -= kBytes) {
    Timeline found = chooseRecomputation(sequence, units, budget);
    EXPECT_LE(found.getPeak(), budget);
    EXPECT_EQ(evaluate(found), evaluate(given));
    if (found.getStateOnHost().size() == 12) EXPECT_EQ(found.getPeak(), countPeak(found));
  }
  // Moments alone: activations stay.
  for (Buffer& buffer : sequence.buffers)
    if (!buffer.isKept && !buffer.destination) buffer.hostSeconds = 0;
  Timeline found = chooseRecomputation(sequence, units, 10 * kBytes);
  EXPECT_LE(found.getPeak(), 10 * kBytes);
  EXPECT_EQ(evaluate(found), evaluate(given));
  EXPECT_GE(found.getStateOnHost().size(), 11u);
  // All but the first of the step and the last are hidden.
  EXPECT_LE(found.getSeconds(), given.getSeconds() + 1);
}

TEST(OffloadSearch, StateOfStateStaysWhereItFits) {
  StepSequence sequence = getTraining(8, 4, 0.25);
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, given.getPeak());
  EXPECT_TRUE(found.getStateOnHost().empty());
  EXPECT_EQ(found.size(), given.size());
}

TEST(OffloadSearch, ResultsAreWrittenToTheHost) {
  Builder builder(0.25);
  unsigned x = builder.argument();
  std::vector<unsigned> results;
  for (int i = 0; i < 16; ++i) results.push_back(builder.step({x}));
  StepSequence sequence = builder.finish(results);
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, 3 * kBytes);
  EXPECT_EQ(given.getPeak(), 16 * kBytes);
  EXPECT_LE(found.getPeak(), 3 * kBytes);
  EXPECT_EQ(found.getPeak(), countPeak(found));
  EXPECT_EQ(evaluate(found), evaluate(given));
  EXPECT_EQ(count(found, Kind::CopyIn), 0u);
}

/// Random graphs with states, whose next values may be read again, and be made before the last use of the state.
StepSequence getRandom(std::mt19937& random) {
  auto pick = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  Builder builder(0.1 * static_cast<double>(1 + pick(60)));
  std::vector<unsigned> states, values = {builder.argument(), builder.argument()}, next;
  for (size_t i = 0, most = pick(5); i < most; ++i) states.push_back(builder.state());
  values.insert(values.end(), states.begin(), states.end());
  const size_t steps = 4 + pick(40);
  for (size_t i = 0; i < steps; ++i) {
    std::vector<unsigned> reads;
    for (size_t j = 0; j <= pick(3); ++j) {
      unsigned value =
          values[pick(3) == 0 ? pick(values.size()) : values.size() - 1 - pick(std::min<size_t>(values.size(), 4))];
      if (!llvm::is_contained(reads, value)) reads.push_back(value);
    }
    values.push_back(builder.step(reads, 1 + pick(9), 64 * (1 + pick(16)), pick(3) != 0));
    if (pick(5) == 0) builder.sequence.steps.back().inPlace = {{values.back(), reads.front()}};
  }
  for (unsigned state : states) {
    if (pick(4) == 0) {  // as it is
      next.push_back(state);
      continue;
    }
    std::vector<unsigned> reads = {values[pick(values.size())]};
    if (pick(4) != 0 && reads.front() != state) reads.push_back(state);
    unsigned value = builder.step(reads, 1, kBytes);
    builder.sequence.buffers[value].destination = state;
    if (llvm::is_contained(reads, state)) builder.sequence.steps.back().inPlace = {{value, state}};
    next.push_back(value);
    if (pick(2) == 0) values.push_back(builder.step({value, values[pick(values.size())]}));
  }
  next.push_back(values.back());
  llvm::erase_if(next, [&, seen = std::set<unsigned>()](unsigned value) mutable { return !seen.insert(value).second; });
  return builder.finish(next);
}

TEST(OffloadSearch, RandomGraphsComputeTheSame) {
  int lower = 0, copies = 0, states = 0, recomputed = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    StepSequence sequence = getRandom(random);
    Units units(sequence);
    Timeline given(sequence, units);
    for (int percent : {95, 80, 60, 30, 5}) {
      int64_t budget = given.getPeak() * percent / 100;
      Timeline found = chooseRecomputation(sequence, units, budget);
      ASSERT_EQ(evaluate(found), evaluate(given));
      EXPECT_LE(found.getPeak(), given.getPeak());
      EXPECT_LE(countPeak(found), found.getPeak() + 8 * kBytes);
      Timeline again = chooseRecomputation(sequence, units, budget);
      ASSERT_EQ(found.size(), again.size());
      for (size_t position = 0; position < found.size(); ++position) {
        EXPECT_EQ(found[position].step, again[position].step);
        EXPECT_EQ(found[position].kind, again[position].kind);
      }
      lower += found.getPeak() <= budget;
      copies += count(found, Kind::CopyOut) > 0;
      states += !found.getStateOnHost().empty();
      recomputed += count(found, Kind::Step) > sequence.steps.size();
    }
  }
  EXPECT_GT(lower, 1000);
  EXPECT_GT(copies, 500);
  EXPECT_GT(states, 300);
  EXPECT_GT(recomputed, 100);
}

}  // namespace
}  // namespace mlir::sgd::remat
