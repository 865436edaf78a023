// Medians, since single steps are slow for many reasons.
#include "runtime/watch/straggler_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace sgd::watch {
namespace {

constexpr size_t kMostRows = 64;      // that wait for samples
constexpr float kLeastTime = 1e-7f;   // seconds: less is as much to a clock
constexpr float kLeastShare = 0.02f;  // of a step: less is not worth a word
constexpr uint64_t kKeepsUp = 100;    // steps
// Programs that delay a rank more than others also slow it down while it runs, since they share its caches and its
// core's other thread: by so much of that delay at most.
constexpr float kContention = 0.5f;
constexpr float kLate = 0.1f;         // lateness above it is that of a slow rank
constexpr float kThreshold = 20;      // logarithm of the likelihood ratio
constexpr uint32_t kLeastSteps = 12;  // that a rank is late in, more than not, before it is told: bursts are shorter
constexpr size_t kLeastDifferences = 3;
constexpr size_t kBlock = 8;        // steps
constexpr uint64_t kRenewal = 4;    // steps after which the variance is computed again
constexpr float kNormal = 1.4826f;  // the standard deviation of normal values is so many times their median deviation
constexpr float kMargin = 2;        // of the variance, which few steps measure badly
constexpr float kLeastDeviation = 0.02f;

// The lower one of an even number.
float Median(std::vector<float> values) {
  const size_t middle = (values.size() - 1) / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(middle));
  return values[middle];
}

template <typename Get>
float MedianOf(const std::vector<uint32_t>& ranks, const std::vector<StepSample>& samples, Get get) {
  std::vector<float> values;
  for (uint32_t rank : ranks) values.push_back(get(samples[rank]));
  return Median(std::move(values));
}

// The median of a sorted group without its member `own`. The lower one of an even number would make everyone late.
float MedianOfOthers(const std::vector<float>& sorted, float own) {
  const auto position = static_cast<size_t>(std::ranges::lower_bound(sorted, own) - sorted.begin());
  const size_t others = sorted.size() - 1;
  const auto other = [&](size_t index) { return sorted[position <= index ? index + 1 : index]; };
  return (other((others - 1) / 2) + other(others / 2)) / 2;
}

// The variance of values that are differences of two each.
float VarianceOfDifferences(std::vector<float> differences) {
  for (float& difference : differences) difference = std::abs(difference);
  const float deviation = kNormal * Median(std::move(differences));
  return deviation * deviation / 2;
}

// Counts some of a rank's own time like a wait for peers: a step takes equally long on all ranks, whatever they wait
// for.
void CountAsWait(float seconds, StepSample& sample) {
  const float own = sample.own(), waited = std::min(seconds, own);
  if (waited <= 0) return;
  const float factor = 1 - waited / own;
  sample.compute *= factor;
  sample.input *= factor;
  sample.checkpoint *= factor;
  sample.wait += waited;
}

void LeaveOutDelays(std::vector<StepSample>& samples) {
  for (StepSample& sample : samples) CountAsWait(sample.delay, sample);
}

}  // namespace

const char* CauseName(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::kCompute:
      return "compute";
    case StragglerCause::kInput:
      return "input";
    case StragglerCause::kCheckpoint:
      return "checkpoint";
  }
  return "";
}

float LatenessTest::Variance() const {
  const size_t known = static_cast<size_t>(std::min<uint64_t>(count_, kWindow));
  std::vector<float> neighbours, means, blocks;
  for (size_t age = 0; age + 1 < known; ++age) neighbours.push_back(At(age) - At(age + 1));
  for (size_t block = 0; (block + 1) * kBlock <= known; ++block) {
    float sum = 0;
    for (size_t age = block * kBlock; age < (block + 1) * kBlock; ++age) sum += At(age);
    means.push_back(sum / kBlock);
  }
  for (size_t i = 0; i + 1 < means.size(); ++i) blocks.push_back(means[i] - means[i + 1]);
  const float of_steps = kMargin * VarianceOfDifferences(std::move(neighbours));
  const float of_blocks = blocks.size() < 2 ? 0 : kMargin * kBlock * VarianceOfDifferences(std::move(blocks));
  return std::max({of_steps, of_blocks, kLeastDeviation * kLeastDeviation});
}

bool LatenessTest::is_slow() const { return score_ >= kThreshold && late_steps_ >= kLeastSteps; }

bool LatenessTest::is_low() const { return score_ < kThreshold / 4; }

void LatenessTest::Add(float lateness) {
  // How far beyond says nothing more, and would pass for noise: a rank that is stopped now and then is hit once by some
  // steps, and twice by others.
  lateness = std::clamp(lateness, -3 * kLate, 2 * kLate);
  ring_[count_++ % kWindow] = lateness;
  if (count_ <= kLeastDifferences) return;
  if (count_ <= 2 * kBlock || count_ % kRenewal == 0) variance_ = Variance();
  // A single step says little, however late it is.
  const float most = std::max(kLate, 2 * std::sqrt(variance_ / kMargin));
  const float beyond = std::clamp(lateness - kLate, -3 * most, most);
  score_ = std::clamp(score_ + 2 * kLate * beyond / variance_, 0.0f, kThreshold);
  late_steps_ = lateness > kLate ? std::min(late_steps_ + 1, kLeastSteps) : late_steps_ - std::min(late_steps_, 1u);
}

RankComparison::RankComparison(const std::vector<uint32_t>& group_of, float contention)
    : contention_(contention), tracks_(group_of.size()) {
  for (uint32_t rank = 0; rank < group_of.size(); ++rank) {
    if (groups_.size() <= group_of[rank]) groups_.resize(group_of[rank] + 1);
    groups_[group_of[rank]].push_back(rank);
  }
}

void RankComparison::Add(const std::vector<StepSample>& samples) {
  if (tracks_.size() < 2) return;  // nobody waits
  least_delay_ = std::ranges::min_element(samples, {}, &StepSample::delay)->delay;
  for (const std::vector<uint32_t>& group : groups_) {
    if (group.size() == 1) AddLone(group[0], samples);
    if (group.size() > 1) AddGroup(group, samples);
  }
}

void RankComparison::AddGroup(const std::vector<uint32_t>& group, const std::vector<StepSample>& samples) {
  const auto median = [&](auto get) { return MedianOf(group, samples, get); };
  std::vector<float> sorted;
  for (uint32_t rank : group) sorted.push_back(samples[rank].own());
  std::ranges::sort(sorted);
  const float compute = median([](const StepSample& sample) { return sample.compute; });
  const float input = median([](const StepSample& sample) { return sample.input; });
  const float checkpoint = median([](const StepSample& sample) { return sample.checkpoint; });
  // The higher one of an even number: of two ranks, that of the other one.
  const float wait = -median([](const StepSample& sample) { return -sample.wait; });
  for (uint32_t rank : group) {
    const StepSample& sample = samples[rank];
    const float reference = MedianOfOthers(sorted, sample.own());
    Note(rank, sample, reference,
         {.excess = sample.own() - reference,
          .extra_wait = wait - sample.wait,
          .compute = sample.compute - compute,
          .input = sample.input - input,
          .checkpoint = sample.checkpoint - checkpoint,
          .total = sample.total()});
  }
}

void RankComparison::AddLone(uint32_t rank, const std::vector<StepSample>& samples) {
  Track& track = tracks_[rank];
  const StepSample& sample = samples[rank];
  if (track.history.size() < kHistory) {
    track.history.push_back(sample);
    if (track.history.size() < kHistory) return;
    std::vector<uint32_t> all(kHistory);
    for (uint32_t i = 0; i < kHistory; ++i) all[i] = i;
    for (float StepSample::* field :
         {&StepSample::compute, &StepSample::wait, &StepSample::input, &StepSample::checkpoint})
      track.usual.*field = MedianOf(all, track.history, [&](const StepSample& one) { return one.*field; });
    return;
  }
  const StepSample& usual = track.usual;
  Note(rank, sample, usual.own(),
       {.excess = sample.own() - usual.own(),
        .extra_wait = ExtraWaitOfOthers(rank, samples),
        .compute = sample.compute - usual.compute,
        .input = sample.input - usual.input,
        .checkpoint = sample.checkpoint - usual.checkpoint,
        .total = sample.total()});
}

// Of the lone ranks beside this one, whose usual waits are known; without such ranks nobody may be blamed.
float RankComparison::ExtraWaitOfOthers(uint32_t rank, const std::vector<StepSample>& samples) const {
  std::vector<float> extra;
  for (uint32_t other = 0; other < tracks_.size(); ++other) {
    if (other != rank && tracks_[other].history.size() == kHistory)
      extra.push_back(samples[other].wait - tracks_[other].usual.wait);
  }
  return extra.empty() ? 0 : Median(std::move(extra));
}

bool RankComparison::IsSlow(uint32_t rank) const {
  if (!tracks_[rank].test.is_slow()) return false;
  float excess = 0, extra_wait = 0;
  for (const Lag& lag : tracks_[rank].lags) {
    excess += lag.excess;
    extra_wait += lag.extra_wait;
  }
  return extra_wait > excess / 2;
}

void RankComparison::Note(uint32_t rank, const StepSample& sample, float reference, const Lag& lag) {
  Track& track = tracks_[rank];
  track.lags[track.steps++ % kWindow] = lag;
  const float own = sample.own() - contention_ * (sample.delay - least_delay_);
  track.test.Add(std::log(std::max(own, kLeastTime) / std::max(reference, kLeastTime)));
  const bool is_low = track.test.is_low();
  track.on_time = is_low ? track.on_time + 1 : 0;
  track.slow_seconds = is_low ? 0 : track.slow_seconds + lag.total;
}

bool RankComparison::KeepsUp(uint32_t rank) const { return tracks_[rank].on_time >= kKeepsUp; }

Straggler RankComparison::Describe(uint32_t rank) const {
  std::vector<float> costs, totals;
  float compute = 0, input = 0, checkpoint = 0;
  for (const Lag& lag : tracks_[rank].lags) {
    if (lag.excess <= 0) continue;
    costs.push_back(lag.excess);
    totals.push_back(lag.total);
    compute += lag.compute;
    input += lag.input;
    checkpoint += lag.checkpoint;
  }
  Straggler straggler;
  straggler.rank = rank;
  if (costs.empty()) return straggler;
  straggler.seconds = Median(costs);
  straggler.share = straggler.seconds / Median(totals);
  if (input > compute && input > checkpoint) straggler.cause = StragglerCause::kInput;
  if (checkpoint > compute && checkpoint > input) straggler.cause = StragglerCause::kCheckpoint;
  return straggler;
}

StragglerFinder::StragglerFinder(const std::vector<uint32_t>& group_of)
    : with_delays_(group_of, 0),
      without_delays_(group_of, kContention),
      at_equal_speed_(group_of, 0),
      group_of_(group_of),
      newest_(group_of.size(), kFirstSteps),
      found_in_(group_of.size()),
      least_on_core_(group_of.size(), std::numeric_limits<float>::infinity()) {
  std::map<uint32_t, uint32_t> sizes;  // by group
  for (const uint32_t group : group_of) ++sizes[group];
  for (const uint32_t group : group_of) is_alone_.push_back(sizes[group] == 1);
}

void StragglerFinder::Add(uint32_t rank, const StepSample& sample) {
  if (rank >= newest_.size() || sample.step < newest_[rank]) return;
  newest_[rank] = uint64_t{sample.step} + 1;
  Row& row = rows_[sample.step];
  row.samples.resize(newest_.size());
  row.samples[rank] = sample;
  if (++row.count < newest_.size()) {
    if (rows_.size() > kMostRows) rows_.erase(rows_.begin());
    return;
  }
  Compare(sample.step, row.samples);
  rows_.erase(sample.step);
}

void StragglerFinder::Compare(uint64_t step, const std::vector<StepSample>& samples) {
  with_delays_.Add(samples);
  std::vector<StepSample> changed(samples);
  LeaveOutDelays(changed);
  without_delays_.Add(changed);
  changed = samples;
  EqualSpeeds(changed);
  at_equal_speed_.Add(changed);
  for (uint32_t rank = 0; rank < found_in_.size(); ++rank) Judge(rank, step);
}

// The ranks of a group compute the same, and the only rank of a group computes the same in each step: who has a core
// for longer has a slower one. What is left beyond that is time in which a rank neither had a core nor was ready to
// run.
void StragglerFinder::EqualSpeeds(std::vector<StepSample>& samples) {
  std::vector<float> least(samples.size(), std::numeric_limits<float>::infinity());  // by group
  for (size_t rank = 0; rank < samples.size(); ++rank)
    least[group_of_[rank]] = std::min(least[group_of_[rank]], samples[rank].on_core);
  for (size_t rank = 0; rank < samples.size(); ++rank) {
    StepSample& sample = samples[rank];
    if (is_alone_[rank]) least_on_core_[rank] = std::min(least_on_core_[rank], sample.on_core);
    const float on_core = is_alone_[rank] ? least_on_core_[rank] : least[group_of_[rank]];
    const float delay = std::clamp(sample.delay, 0.0f, std::max(0.0f, sample.own() - sample.on_core));
    CountAsWait(delay + sample.on_core - on_core, sample);
  }
}

void StragglerFinder::Judge(uint32_t rank, uint64_t step) {
  const bool keeps_up = at_equal_speed_.KeepsUp(rank) && without_delays_.KeepsUp(rank) && with_delays_.KeepsUp(rank);
  if (keeps_up) found_in_[rank].reset();
  const bool stops = at_equal_speed_.IsSlow(rank);
  const bool runs_slowly = without_delays_.IsSlow(rank) && without_delays_.slow_seconds(rank) > kRunningSlowlySeconds;
  const bool is_slow = stops || runs_slowly;
  const bool lacks_cores = with_delays_.IsSlow(rank) && with_delays_.slow_seconds(rank) > kLackingSeconds;
  if (!is_slow && !lacks_cores) return;
  if (found_in_[rank] && step < *found_in_[rank] + kLastingSteps) return;
  Straggler straggler = (stops ? at_equal_speed_ : is_slow ? without_delays_ : with_delays_).Describe(rank);
  if (straggler.share < kLeastShare) return;
  straggler.step = step;
  straggler.lacks_cores = !is_slow;
  straggler.has_lasted = found_in_[rank].has_value();
  found_in_[rank] = step;
  found_.push_back(std::move(straggler));
}

std::vector<Straggler> StragglerFinder::Take() { return std::exchange(found_, {}); }

}  // namespace sgd::watch
