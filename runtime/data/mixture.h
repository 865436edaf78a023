// How many rows of each of several sources there are in each batch, from weights that may change over the steps; plain
// arithmetic in integers, the same on every machine.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace sgd::data {

// A weight from a step on. Between two points it changes linearly; before the first and behind the last it is constant.
struct WeightPoint {
  uint64_t step = 0;
  double weight = 0;
};
using WeightSchedule = std::vector<WeightPoint>;  // one point or more, by ascending step

// Each step adds a batch's share by weight to what is owed to each source, then takes the batch's rows where most is
// owed, of equals from the first one. So after any number of steps each source has given its share but for fewer rows
// than there are sources. This definition is fixed: resumed runs depend on it.
class Mixture {
 public:
  // By source. At every step at least one weight is above 0, and none is below.
  Mixture(std::vector<WeightSchedule> weights, uint64_t batch_rows);

  struct Step {
    std::vector<uint64_t> before;  // rows that the steps before have taken, by source
    std::vector<uint64_t> rows;    // of this step's batch; their sum is batch_rows
  };
  // Threads may ask at once. A step behind the last one that was asked for costs little; another one, the steps since
  // one that was kept, from step 0 on where there is none: a million take less than a second.
  Step At(uint64_t step) const;

 private:
  // Before a step.
  struct State {
    uint64_t step = 0;
    std::vector<uint64_t> taken;
    std::vector<int64_t> owed;  // in units of kUnit for a row
  };
  // Weights of a step, in units of which one is kUnit.
  std::vector<int64_t> Shares(uint64_t step) const;
  // Goes to the next step; returns the rows of this one.
  std::vector<uint64_t> Advance(State& state) const;
  State StateBefore(uint64_t step) const;
  void Keep(const State& state) const;

  const std::vector<WeightSchedule> weights_;
  const uint64_t batch_rows_;
  mutable std::mutex mutex_;           // of all below
  mutable std::vector<State> states_;  // before every stride_-th step, as far as steps were asked for
  mutable uint64_t stride_ = 64;
  mutable State last_;  // that was asked for
};

// The weight at a step.
double WeightAt(const WeightSchedule& schedule, uint64_t step);

}  // namespace sgd::data
