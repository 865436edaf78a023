#include "compiler/simulation/failures.h"

#include <algorithm>
#include <cmath>

double mlir::sgd::getGoodput(const FailureModel& model, double interval) {
  double mean = model.meanTimeBetween;
  double passes = mean * std::exp(model.restart / mean) * std::expm1((interval + model.save) / mean);
  return interval / passes;
}

/// Goodput rises to one maximum, and falls behind it: sections of an interval that holds it.
double mlir::sgd::findBestInterval(const FailureModel& model, double least) {
  constexpr int kSections = 200;
  double low = least, high = std::max(least, 2 * model.meanTimeBetween + model.save);
  for (int i = 0; i < kSections; ++i) {
    double third = (high - low) / 3;
    if (getGoodput(model, low + third) < getGoodput(model, high - third))
      low += third;
    else
      high -= third;
  }
  return (low + high) / 2;
}
