// How much rounding may change a result: the reference is evaluated again with random errors of the size that code may
// make, and what changes with them is not known any better.
#ifndef SGD_TESTS_DIFFERENTIAL_ROUNDING_NOISE_H
#define SGD_TESTS_DIFFERENTIAL_ROUNDING_NOISE_H

#include <random>

#include "dialects/sgd/linear_algebra.h"
#include "reference/evaluate.h"

namespace mlir::sgd::differential {

/// Errors of one evaluation. Moves, comparisons, integers and correctly rounded ops have none of their own; functions
/// are wrong by some units in the last place; sums are those of slightly wrong terms, which covers every order of
/// summation (backward error). Linear algebra is mixed stable (Higham, Accuracy and Stability of Numerical Algorithms,
/// 1.5): slightly wrong results for a slightly wrong matrix, by its largest element, so that errors grow with
/// condition.
class RoundingNoise : public reference::EvaluationObserver {
 public:
  /// `hasPartialSums`: sums are taken in parts, each rounded to the element type (what ranks hold).
  RoundingNoise(uint64_t seed, bool hasPartialSums) : random(seed), hasPartialSums(hasPartialSums) {}

  bool wantsOperands(Operation* op) override;
  void beforeOp(Operation* op, std::vector<reference::RankTensors>& operands) override;
  void afterOp(Operation* op, std::vector<reference::RankTensors>& results) override;

 private:
  void disturb(reference::Tensor& tensor, double relative, bool rounds);
  /// Of matrices behind `batch` leading dimensions: relative to the largest element of each.
  void disturbMatrices(reference::Tensor& tensor, size_t batch, double relative);
  void disturbResults(LinearAlgebraOp call, std::vector<reference::RankTensors>& results);
  /// Between -1 and 1.
  double getUnit() { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

  std::mt19937_64 random;
  bool hasPartialSums;
};

/// True when some op that the value depends on makes rounding errors that RoundingNoise knows of: else the value has
/// exactly one right result.
bool hasRoundingNoise(Value value);

/// Distance from 1 to the next larger number of `type`.
double getEpsilon(Type type);

}  // namespace mlir::sgd::differential

#endif
