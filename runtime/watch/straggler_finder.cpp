// Medians, since single steps are slow for many reasons.
#include "runtime/watch/straggler_finder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sgd::watch {
namespace {

constexpr size_t kMostRows = 64;      // that wait for samples
constexpr float kLeastShare = 0.02f;  // of a step: less is not worth a word
constexpr uint64_t kKeepsUp = 100;    // steps
constexpr int kLowScore = 3;
constexpr float kSpreadFactor = 1.5f;

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

// Counts a wait for a core like one for peers: a step takes equally long on all ranks, whatever they wait for.
StepSample WithoutDelay(StepSample sample) {
  const float own = sample.own();
  const float delay = std::min(sample.delay, own);
  if (delay <= 0) return sample;
  const float factor = 1 - delay / own;
  sample.compute *= factor;
  sample.input *= factor;
  sample.checkpoint *= factor;
  sample.wait += delay;
  return sample;
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

RankComparison::RankComparison(const std::vector<uint32_t>& group_of) : tracks_(group_of.size()) {
  for (uint32_t rank = 0; rank < group_of.size(); ++rank) {
    if (groups_.size() <= group_of[rank]) groups_.resize(group_of[rank] + 1);
    groups_[group_of[rank]].push_back(rank);
  }
}

void RankComparison::Add(const std::vector<StepSample>& samples) {
  if (tracks_.size() < 2) return;  // nobody waits
  for (const std::vector<uint32_t>& group : groups_) {
    if (group.size() == 1) AddLone(group[0], samples);
    if (group.size() > 1) AddGroup(group, samples);
  }
}

void RankComparison::AddGroup(const std::vector<uint32_t>& group, const std::vector<StepSample>& samples) {
  const auto median = [&](auto get) { return MedianOf(group, samples, get); };
  const float own = median([](const StepSample& sample) { return sample.own(); });
  const float compute = median([](const StepSample& sample) { return sample.compute; });
  const float input = median([](const StepSample& sample) { return sample.input; });
  const float checkpoint = median([](const StepSample& sample) { return sample.checkpoint; });
  // The higher one of an even number: of two ranks, that of the other one.
  const float wait = -median([](const StepSample& sample) { return -sample.wait; });
  std::array<float, 2> longest = {};  // own times
  for (uint32_t rank : group) {
    longest[1] = std::max(longest[1], std::min(samples[rank].own(), longest[0]));
    longest[0] = std::max(samples[rank].own(), longest[0]);
  }
  for (uint32_t rank : group) {
    const StepSample& sample = samples[rank];
    Note(rank, {.is_late = IsLate(rank, sample, own),
                .own = sample.own(),
                .excess = sample.own() - own,
                .extra_wait = wait - sample.wait,
                .compute = sample.compute - compute,
                .input = sample.input - input,
                .checkpoint = sample.checkpoint - checkpoint,
                .cost = std::max(0.0f, sample.own() - longest[1]),
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
  Note(rank, {.is_late = IsLate(rank, sample, usual.own()),
              .own = sample.own(),
              .excess = sample.own() - usual.own(),
              .extra_wait = ExtraWaitOfOthers(rank, samples),
              .compute = sample.compute - usual.compute,
              .input = sample.input - usual.input,
              .checkpoint = sample.checkpoint - usual.checkpoint,
              .cost = std::max(0.0f, sample.own() - usual.own()),
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

float RankComparison::SpreadOf(uint32_t rank) const {
  const Track& track = tracks_[rank];
  if (track.steps < kWindow) return 0;
  std::vector<float> values;
  for (const Lag& lag : track.lags) values.push_back(lag.own);
  const float median = Median(values);
  for (float& value : values) value = std::abs(value - median);
  return median > 0 ? Median(std::move(values)) / median : 0;
}

bool RankComparison::IsLate(uint32_t rank, const StepSample& sample, float reference) const {
  const float excess = sample.own() - reference;
  const float factor = std::max(kLateFactor, 1 + kSpreadFactor * SpreadOf(rank));
  return sample.own() > reference * factor && excess > kLeastShare * sample.total();
}

bool RankComparison::IsSlow(uint32_t rank) const {
  if (tracks_[rank].score < kScore) return false;
  float excess = 0, extra_wait = 0;
  for (const Lag& lag : tracks_[rank].lags) {
    excess += lag.excess;
    extra_wait += lag.extra_wait;
  }
  return extra_wait > excess / 2;
}

void RankComparison::Note(uint32_t rank, const Lag& lag) {
  Track& track = tracks_[rank];
  track.lags[track.steps++ % kWindow] = lag;
  track.score = std::clamp(track.score + (lag.is_late ? 1 : -kPenalty), 0, kScore);
  const bool is_low = track.score <= kLowScore;
  track.on_time = is_low ? track.on_time + 1 : 0;
  track.slow_seconds = is_low ? 0 : track.slow_seconds + lag.total;
}

bool RankComparison::KeepsUp(uint32_t rank) const { return tracks_[rank].on_time >= kKeepsUp; }

Straggler RankComparison::Describe(uint32_t rank) const {
  std::vector<float> costs, totals;
  float compute = 0, input = 0, checkpoint = 0;
  for (const Lag& lag : tracks_[rank].lags) {
    if (!lag.is_late) continue;
    costs.push_back(lag.cost);
    totals.push_back(lag.total);
    compute += lag.compute;
    input += lag.input;
    checkpoint += lag.checkpoint;
  }
  Straggler straggler{.rank = rank};
  if (costs.empty()) return straggler;
  straggler.seconds = Median(costs);
  straggler.share = straggler.seconds / Median(totals);
  if (input > compute && input > checkpoint) straggler.cause = StragglerCause::kInput;
  if (checkpoint > compute && checkpoint > input) straggler.cause = StragglerCause::kCheckpoint;
  return straggler;
}

StragglerFinder::StragglerFinder(const std::vector<uint32_t>& group_of)
    : with_delays_(group_of),
      without_delays_(group_of),
      newest_(group_of.size(), kFirstSteps),
      is_found_(group_of.size()) {}

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
  for (StepSample& sample : changed) sample = WithoutDelay(sample);
  without_delays_.Add(changed);
  for (uint32_t rank = 0; rank < is_found_.size(); ++rank) {
    if (without_delays_.KeepsUp(rank) && with_delays_.KeepsUp(rank)) is_found_[rank] = false;
    const bool is_slow = without_delays_.IsSlow(rank);
    const bool lacks_cores = with_delays_.IsSlow(rank) && with_delays_.slow_seconds(rank) > kLackingSeconds;
    if (is_found_[rank] || (!is_slow && !lacks_cores)) continue;
    Straggler straggler = (is_slow ? without_delays_ : with_delays_).Describe(rank);
    if (straggler.share < kLeastShare) continue;
    straggler.step = step;
    straggler.lacks_cores = !is_slow;
    is_found_[rank] = true;
    found_.push_back(straggler);
  }
}

std::vector<Straggler> StragglerFinder::Take() { return std::exchange(found_, {}); }

}  // namespace sgd::watch
