// States are kept at regular steps; a step is computed from the one before it.
#include "runtime/data/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sgd::data {
namespace {

constexpr size_t kMostStates = 1 << 14;
constexpr int64_t kUnit = int64_t{1} << 24;

}  // namespace

double WeightAt(const WeightSchedule& schedule, uint64_t step) {
  const auto next = std::ranges::upper_bound(schedule, step, {}, &WeightPoint::step);
  if (next == schedule.begin()) return next->weight;
  const WeightPoint& from = *(next - 1);
  if (next == schedule.end()) return from.weight;
  const double part = static_cast<double>(step - from.step) / static_cast<double>(next->step - from.step);
  return from.weight + (next->weight - from.weight) * part;
}

Mixture::Mixture(std::vector<WeightSchedule> weights, uint64_t batch_rows)
    : weights_(std::move(weights)), batch_rows_(batch_rows) {
  last_.taken.resize(weights_.size());
  last_.owed.resize(weights_.size());
  states_.push_back(last_);
}

// Rounded down, what is missing to kUnit goes to the greatest share.
std::vector<int64_t> Mixture::Shares(uint64_t step) const {
  std::vector<double> weights(weights_.size());
  std::ranges::transform(weights_, weights.begin(), [&](const WeightSchedule& one) { return WeightAt(one, step); });
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> shares(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    shares[i] = static_cast<int64_t>(std::floor(weights[i] / sum * static_cast<double>(kUnit)));
  *std::ranges::max_element(shares) += kUnit - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  return shares;
}

std::vector<uint64_t> Mixture::Advance(State& state) const {
  const std::vector<int64_t> shares = Shares(state.step++);
  std::vector<uint64_t> rows(shares.size());
  uint64_t left = batch_rows_;
  const auto take = [&](size_t source, uint64_t count) {
    rows[source] += count;
    state.taken[source] += count;
    state.owed[source] -= static_cast<int64_t>(count) * kUnit;
    left -= count;
  };
  for (size_t i = 0; i < shares.size(); ++i) {
    state.owed[i] += static_cast<int64_t>(batch_rows_) * shares[i];
    // One by one would give the same: less than a row is owed by each source, so these are less than a batch.
    const int64_t at_once = state.owed[i] / kUnit - static_cast<int64_t>(shares.size());
    if (at_once > 0) take(i, static_cast<uint64_t>(at_once));
  }
  while (left > 0) take(static_cast<size_t>(std::ranges::max_element(state.owed) - state.owed.begin()), 1);
  return rows;
}

void Mixture::Keep(const State& state) const {
  states_.push_back(state);
  if (states_.size() < kMostStates) return;
  // Every other one goes.
  for (size_t i = 1; 2 * i < states_.size(); ++i) states_[i] = std::move(states_[2 * i]);
  states_.resize((states_.size() + 1) / 2);
  stride_ *= 2;
}

Mixture::State Mixture::StateBefore(uint64_t step) const {
  const std::lock_guard lock(mutex_);
  State state = last_.step <= step ? last_ : *(std::ranges::upper_bound(states_, step, {}, &State::step) - 1);
  while (state.step < step) {
    Advance(state);
    if (state.step == states_.back().step + stride_) Keep(state);
  }
  last_ = state;
  return state;
}

Mixture::Step Mixture::At(uint64_t step) const {
  State state = StateBefore(step);
  std::vector<uint64_t> taken = state.taken;
  return {.before = std::move(taken), .rows = Advance(state)};
}

}  // namespace sgd::data
