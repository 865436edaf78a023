// The search on hand-made and random sequences: what a timeline computes is what the sequence computes, what it says is
// alive is alive, budgets are met, and cheap things are chosen before expensive ones.
#include "passes/plan/recompute/recompute_search.h"

#include <map>
#include <random>

#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::sgd::remat {
namespace {

constexpr int64_t kBytes = 1024;

/// Builds sequences value by value.
class Builder {
 public:
  unsigned argument() { return add({0, /*isKept=*/true, std::nullopt, 0, 0}); }

  unsigned step(llvm::ArrayRef<unsigned> reads, double seconds = 1, int64_t bytes = kBytes, bool isRepeatable = true) {
    unsigned result = add({bytes, false, std::nullopt, 0, 0});
    sequence.steps.push_back({seconds, {reads.begin(), reads.end()}, {result}, {}, 0, isRepeatable});
    return result;
  }

  /// A further step of the one that writes `buffer`.
  void update(unsigned buffer, llvm::ArrayRef<unsigned> reads, double seconds = 1) {
    llvm::SmallVector<unsigned, 4> all(reads.begin(), reads.end());
    all.push_back(buffer);
    sequence.steps.push_back({seconds, all, {buffer}, {}, 0, true});
  }

  StepSequence finish(llvm::ArrayRef<unsigned> results) {
    sequence.steps.push_back({0, {results.begin(), results.end()}, {}, {}, 0, false});
    return sequence;
  }

  StepSequence sequence;

 private:
  unsigned add(Buffer buffer) {
    sequence.buffers.push_back(buffer);
    return sequence.buffers.size() - 1;
  }
};

/// `layers` values, each of the one before, which a second chain reads in reverse, as a backward pass does.
StepSequence getNetwork(int layers, double seconds = 1) {
  Builder builder;
  std::vector<unsigned> forward = {builder.argument()};
  for (int i = 0; i < layers; ++i) forward.push_back(builder.step({forward.back()}, seconds));
  unsigned gradient = builder.step({forward.back()});
  for (int i = layers; i > 0; --i) gradient = builder.step({gradient, forward[i]});
  return builder.finish({gradient});
}

/// The results as terms: each step is a function of what it reads. Fails when something is read that is not
/// there.
std::vector<size_t> evaluate(const Timeline& timeline) {
  const StepSequence& sequence = timeline.getSequence();
  std::map<unsigned, size_t> values;  // by version
  auto read = [&](unsigned version) -> size_t {
    if (sequence.buffers[timeline.getBuffer(version)].isKept) return version + 1;
    auto known = values.find(version);
    return known == values.end() ? 0 : known->second;
  };
  std::vector<size_t> last;
  for (size_t position = 0; position < timeline.size(); ++position) {
    const Execution& execution = timeline[position];
    const Step& step = sequence.steps[execution.step];
    size_t term = llvm::hash_value(execution.step);
    last.clear();
    EXPECT_EQ(execution.reads.size(), step.reads.size());
    for (auto [version, buffer] : llvm::zip_equal(execution.reads, step.reads)) {
      EXPECT_EQ(timeline.getBuffer(version), buffer);
      bool isFirstWrite = llvm::is_contained(execution.writes, version);
      EXPECT_TRUE(read(version) != 0 || isFirstWrite) << "position " << position << " reads what is not there";
      last.push_back(read(version));
      term = llvm::hash_combine(term, last.back());
    }
    for (auto [version, buffer] : llvm::zip_equal(execution.writes, step.writes)) {
      EXPECT_EQ(timeline.getBuffer(version), buffer);
      values[version] = llvm::hash_combine(term, buffer);
    }
  }
  return last;
}

/// The peak, counted position by position.
int64_t countPeak(const Timeline& timeline) {
  std::map<unsigned, std::pair<size_t, size_t>> lifetimes;
  for (size_t position = 0; position < timeline.size(); ++position)
    for (auto* list : {&timeline[position].reads, &timeline[position].writes})
      for (unsigned version : *list) {
        lifetimes.try_emplace(version, position, position);
        lifetimes[version].second = position;
      }
  int64_t peak = 0;
  for (size_t position = 0; position < timeline.size(); ++position) {
    int64_t alive = 0;
    for (auto [version, lifetime] : lifetimes)
      if (lifetime.first <= position && position <= lifetime.second)
        alive += timeline.getSequence().buffers[timeline.getBuffer(version)].bytes;
    peak = std::max(peak, alive);
  }
  return peak;
}

TEST(RecomputeSearch, LeavesAloneWhatFits) {
  StepSequence sequence = getNetwork(8);
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, given.getPeak());
  ASSERT_EQ(found.size(), sequence.steps.size());
  for (size_t position = 0; position < found.size(); ++position) EXPECT_EQ(found[position].step, position);
}

TEST(RecomputeSearch, MeetsEveryBudgetOfAChain) {
  StepSequence sequence = getNetwork(16);
  Units units(sequence);
  Timeline given(sequence, units);
  const std::vector<size_t> results = evaluate(given);
  double before = given.getSeconds();
  // A value, the gradient before and after it, and what it is computed from again.
  for (int64_t budget = given.getPeak(); budget >= 7 * kBytes; budget -= kBytes) {
    Timeline found = chooseRecomputation(sequence, units, budget);
    EXPECT_LE(found.getPeak(), budget);
    EXPECT_EQ(found.getPeak(), countPeak(found));
    EXPECT_EQ(evaluate(found), results);
    // The first of many segments is left out; each value of the others is computed a few times at most.
    EXPECT_LE(found.getSeconds(), before + 3 * 16) << budget;
    if (budget >= 10 * kBytes) {
      EXPECT_LE(found.getSeconds(), before + 16) << budget;
    }
  }
}

TEST(RecomputeSearch, RecomputesTheCheapOne) {
  Builder builder;
  unsigned x = builder.argument();
  unsigned cheap = builder.step({x}, 1), expensive = builder.step({x}, 100), middle = builder.step({x}, 1);
  unsigned end = builder.step({middle}, 1);
  StepSequence sequence = builder.finish({builder.step({cheap, expensive, end}, 1)});
  // Both are used before: they cannot just run later.
  sequence.steps[2].reads.push_back(cheap);
  sequence.steps[2].reads.push_back(expensive);
  sequence.steps[3].reads.push_back(expensive);
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, given.getPeak() - kBytes);
  EXPECT_EQ(found.getPeak(), given.getPeak());  // the last step reads three values and writes one: nothing helps
  sequence.buffers[end].bytes = kBytes / 4;
  sequence.steps[3].scratchBytes = 4 * kBytes;
  Timeline tight(sequence, units), better = chooseRecomputation(sequence, units, tight.getPeak() - kBytes);
  EXPECT_EQ(better.getPeak(), tight.getPeak() - kBytes);
  EXPECT_DOUBLE_EQ(better.getSeconds(), tight.getSeconds() + 1);
}

TEST(RecomputeSearch, MovesWhatNobodyNeedsBefore) {
  Builder builder;
  unsigned x = builder.argument(), early = builder.step({x}, 50), other = builder.step({x}, 1, 8 * kBytes);
  unsigned small = builder.step({other}, 1, 64);
  StepSequence sequence = builder.finish({builder.step({early, small}, 1)});
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, 8 * kBytes + 512);
  EXPECT_LE(found.getPeak(), 8 * kBytes + 512);
  EXPECT_DOUBLE_EQ(found.getSeconds(), given.getSeconds());
  EXPECT_EQ(evaluate(found), evaluate(given));
}

TEST(RecomputeSearch, NeverRepeatsWhatMustNotBe) {
  StepSequence sequence = getNetwork(8);
  for (Step& step : sequence.steps) step.isRepeatable = false;
  Units units(sequence);
  Timeline found = chooseRecomputation(sequence, units, kBytes);
  EXPECT_EQ(found.size(), sequence.steps.size());
}

TEST(RecomputeSearch, ReadsNoArgumentThatIsOverwritten) {
  Builder builder;
  unsigned state = builder.argument(), value = builder.step({state}, 1), next = builder.step({value}, 1);
  unsigned middle = builder.step({next}, 1, 64);
  StepSequence sequence = builder.finish({next, builder.step({value, middle}, 1)});
  sequence.buffers[next].destination = state;  // written over the state, which `value` is computed from
  sequence.steps[2].scratchBytes = 8 * kBytes;
  Units units(sequence);
  Timeline found = chooseRecomputation(sequence, units, kBytes);
  EXPECT_EQ(found.size(), sequence.steps.size());
}

TEST(RecomputeSearch, RunsAllStepsOfAUnit) {
  Builder builder;
  unsigned x = builder.argument(), value = builder.step({x}, 1);
  builder.update(value, {x});
  unsigned big = builder.step({value}, 1, 16 * kBytes), small = builder.step({big}, 1, 64);
  StepSequence sequence = builder.finish({builder.step({value, small}, 1)});
  sequence.steps[3].scratchBytes = kBytes / 2;
  Units units(sequence);
  Timeline given(sequence, units), found = chooseRecomputation(sequence, units, given.getPeak() - kBytes / 4);
  EXPECT_LT(found.getPeak(), given.getPeak());
  EXPECT_EQ(evaluate(found), evaluate(given));
  EXPECT_EQ(found.size(), given.size() + 2);
}

TEST(RecomputeSearch, CountsInPlaceUpdatesOnce) {
  Builder builder;
  unsigned x = builder.argument(), a = builder.step({x}), b = builder.step({a});
  StepSequence sequence = builder.finish({b});
  sequence.steps[1].inPlace = {{b, a}};
  Units units(sequence);
  EXPECT_EQ(Timeline(sequence, units).getPeak(), kBytes);
}

/// Random graphs: forward values, readers far behind them, units of two steps, results in arguments' place.
StepSequence getRandom(std::mt19937& random) {
  Builder builder;
  auto pick = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  std::vector<unsigned> values = {builder.argument(), builder.argument()};
  const size_t steps = 4 + pick(40);
  for (size_t i = 0; i < steps; ++i) {
    std::vector<unsigned> reads;
    for (size_t j = 0; j <= pick(3); ++j) {
      unsigned value =
          values[pick(4) == 0 ? pick(values.size()) : values.size() - 1 - pick(std::min<size_t>(values.size(), 4))];
      if (!llvm::is_contained(reads, value)) reads.push_back(value);
    }
    values.push_back(builder.step(reads, 1 + pick(9), 64 * (1 + pick(16)), pick(10) != 0));
    if (pick(8) == 0) builder.update(values.back(), {reads.front()});
    if (pick(5) == 0) builder.sequence.steps.back().inPlace = {{values.back(), reads.front()}};
  }
  StepSequence sequence = builder.finish({values.back(), values[values.size() - 2]});
  if (pick(2) == 0) sequence.buffers[values.back()].destination = 0;
  return sequence;
}

TEST(RecomputeSearch, RandomGraphsComputeTheSame) {
  int lower = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    StepSequence sequence = getRandom(random);
    Units units(sequence);
    Timeline given(sequence, units);
    for (int percent : {95, 80, 60, 30}) {
      int64_t budget = given.getPeak() * percent / 100;
      Timeline found = chooseRecomputation(sequence, units, budget);
      EXPECT_EQ(evaluate(found), evaluate(given)) << "seed " << seed;
      EXPECT_LE(found.getPeak(), given.getPeak()) << "seed " << seed;
      Timeline again = chooseRecomputation(sequence, units, budget);
      ASSERT_EQ(found.size(), again.size());
      for (size_t position = 0; position < found.size(); ++position)
        EXPECT_EQ(found[position].step, again[position].step);
      if (found.getPeak() > budget) continue;
      ++lower;
      // Nothing is repeated in vain.
      for (unsigned instance : found.getAddedInstances()) {
        Timeline without = found;
        if (without.drop(instance)) EXPECT_GT(without.getPeak(), budget) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(lower, 400);
}

}  // namespace
}  // namespace mlir::sgd::remat
