// The running median of the loss, and whether a loss is far above it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

namespace sgd::guard {

class LossHistory {
 public:
  // Losses before a median counts, and how many of the last ones it is the median of.
  static constexpr size_t kLeast = 16;
  static constexpr size_t kMost = 64;

  // The median of the last losses; nothing before there are kLeast.
  std::optional<double> median() const;
  // Whether `loss` is above `factor` times the median. Medians that are not positive bound nothing.
  bool IsAbove(double loss, double factor) const;
  void Add(double loss);

 private:
  std::deque<double> losses_;
};

}  // namespace sgd::guard
