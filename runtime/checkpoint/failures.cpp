// Goodput rises to one maximum over the interval, and falls behind it.
#include "runtime/checkpoint/failures.h"

#include <algorithm>
#include <cmath>

namespace sgd::checkpoint {

double Goodput(const FailureModel& model, double interval) {
  const double mean = model.mean_time_between;
  const double passes = mean * std::exp(model.restart / mean) * std::expm1((interval + model.save) / mean);
  return interval / passes;
}

double BestInterval(const FailureModel& model, double least) {
  constexpr int kSections = 200;
  double low = least, high = std::max(least, 2 * model.mean_time_between + model.save);
  for (int i = 0; i < kSections; ++i) {
    const double third = (high - low) / 3;
    if (Goodput(model, low + third) < Goodput(model, high - third)) {
      low += third;
    } else {
      high -= third;
    }
  }
  return (low + high) / 2;
}

}  // namespace sgd::checkpoint
