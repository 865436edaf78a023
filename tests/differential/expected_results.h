// Results that a program must have, by the reference evaluator, and how far from them it may be.
#ifndef SGD_TESTS_DIFFERENTIAL_EXPECTED_RESULTS_H
#define SGD_TESTS_DIFFERENTIAL_EXPECTED_RESULTS_H

#include <map>
#include <optional>
#include <string>

#include "reference/evaluate.h"

namespace mlir::sgd::differential {

/// How a result is computed: wherever sums are taken in parts, their parts are rounded.
enum class Sums { Whole, InParts };

/// Results of one function of the graph level on some inputs.
class ExpectedResults {
 public:
  /// Fails, with a diagnostic, on what the evaluator does not know.
  static FailureOr<ExpectedResults> create(func::FuncOp function, std::vector<reference::Tensor> inputs);

  /// A line about the first element of result `index` that is wrong, on any of the ranks whose shards these are;
  /// nullopt when all is right. Without rounding errors that is equality, NaN being equal to NaN. `layout` is that of
  /// the shards.
  std::optional<std::string> findError(unsigned index, const reference::RankTensors& shards,
                                       reference::ShardLayout layout, MeshAttr mesh, Sums sums);

 private:
  using Tolerances = std::vector<reference::Tensor>;  // by result, of f64; infinite where anything is right

  ExpectedResults(func::FuncOp function, std::vector<reference::Tensor> inputs)
      : function(function), inputs(std::move(inputs)) {}
  FailureOr<std::vector<reference::Tensor>> evaluate(reference::EvaluationObserver* observer);
  const Tolerances& getTolerances(Sums sums, unsigned evaluations);
  Tolerances computeTolerances(Sums sums, unsigned evaluations);

  func::FuncOp function;
  std::vector<reference::Tensor> inputs, results;
  std::map<std::pair<Sums, unsigned>, Tolerances> tolerances;
};

}  // namespace mlir::sgd::differential

#endif
