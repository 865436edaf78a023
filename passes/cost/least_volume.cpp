// Coordinate ascent on the dual. For multipliers l of the constraints, with m the sum of those of a quantity's
// constraints, the cheapest amount is m / bytes cut to [least, most]: the dual is smooth, and the amounts grow with
// each multiplier.
#include "passes/cost/least_volume.h"

#include <algorithm>
#include <cmath>

namespace mlir::sgd {

namespace {

/// Sweeps over all multipliers, and the relative change at which they have settled.
constexpr int kMaxSweeps = 200;
constexpr double kSettled = 1e-5;

class DualAscent {
 public:
  DualAscent(const std::vector<Quantity>& quantities, const std::vector<VolumeConstraint>& constraints)
      : quantities(quantities),
        constraints(constraints),
        multipliers(constraints.size(), 0),
        sums(quantities.size(), 0) {}

  LeastVolume run() {
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      double before = getDual();
      for (unsigned index = 0; index < constraints.size(); ++index) improve(index);
      double after = getDual();
      if (after - before <= kSettled * std::max(1.0, after)) break;
    }
    LeastVolume result{std::max(0.0, getDual()), {}};
    for (unsigned index = 0; index < quantities.size(); ++index) result.amounts.push_back(getAmount(index));
    return result;
  }

 private:
  double getAmount(unsigned index) const {
    const Quantity& quantity = quantities[index];
    return std::clamp(sums[index] / quantity.bytes, quantity.least, quantity.most);
  }

  double getDual() const {
    double dual = 0;
    for (unsigned index = 0; index < constraints.size(); ++index)
      dual += multipliers[index] * constraints[index].logLeast;
    for (unsigned index = 0; index < quantities.size(); ++index) {
      double amount = getAmount(index);
      dual += quantities[index].bytes * (amount - quantities[index].held) - sums[index] * std::log(amount);
    }
    return dual;
  }

  void setMultiplier(unsigned index, double multiplier) {
    for (unsigned quantity : constraints[index].quantities) sums[quantity] += multiplier - multipliers[index];
    multipliers[index] = multiplier;
  }

  /// By how much the constraint is missed, in logarithms.
  double getGap(unsigned index) const {
    double gap = constraints[index].logLeast;
    for (unsigned quantity : constraints[index].quantities) gap -= std::log(getAmount(quantity));
    return gap;
  }

  /// The multiplier at which the constraint just holds, or 0.
  void improve(unsigned index) {
    double gap = getGap(index), before = multipliers[index];
    if (gap <= 0 && before == 0) return;
    double high = 0;
    for (unsigned quantity : constraints[index].quantities)
      high = std::max(high, quantities[quantity].bytes * quantities[quantity].most);
    double low = 0;
    if (gap > 0) {
      low = before;
      setMultiplier(index, high);
      if (getGap(index) > 0) return setMultiplier(index, before);
    } else {
      high = before;
    }
    for (int step = 0; step < 40 && high - low > 1e-7 * high; ++step) {
      double middle = (low + high) / 2;
      setMultiplier(index, middle);
      (getGap(index) > 0 ? low : high) = middle;
    }
    setMultiplier(index, low);
  }

  const std::vector<Quantity>& quantities;
  const std::vector<VolumeConstraint>& constraints;
  std::vector<double> multipliers, sums;
};

}  // namespace

LeastVolume findLeastVolume(const std::vector<Quantity>& quantities, const std::vector<VolumeConstraint>& constraints) {
  return DualAscent(quantities, constraints).run();
}

}  // namespace mlir::sgd
