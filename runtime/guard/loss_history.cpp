// Sorts a copy: 64 numbers once a step.
#include "runtime/guard/loss_history.h"

#include <algorithm>
#include <vector>

namespace sgd::guard {

std::optional<double> LossHistory::median() const {
  if (losses_.size() < kLeast) return std::nullopt;
  std::vector<double> sorted(losses_.begin(), losses_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

bool LossHistory::IsAbove(double loss, double factor) const {
  const std::optional<double> middle = median();
  return middle && *middle > 0 && loss > factor * *middle;
}

void LossHistory::Add(double loss) {
  losses_.push_back(loss);
  if (losses_.size() > kMost) losses_.pop_front();
}

}  // namespace sgd::guard
