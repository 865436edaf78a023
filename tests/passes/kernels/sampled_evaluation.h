// Evaluates a module on numbers that fill its arguments, by the reference evaluator on one rank.
#ifndef SGD_TESTS_PASSES_GRAPH_ATTENTION_SAMPLED_EVALUATION_H
#define SGD_TESTS_PASSES_GRAPH_ATTENTION_SAMPLED_EVALUATION_H

#include <gtest/gtest.h>

#include <cmath>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/evaluate.h"

namespace mlir::sgd {

/// The results of the module's first function. Floats of its arguments lie in [-`scale`, `scale`], integers are 0 or 1,
/// mostly 1.
inline std::vector<reference::Tensor> evaluateOnSamples(ModuleOp module, double scale) {
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  std::vector<reference::RankTensors> arguments;
  double next = 0;
  for (Type type : function.getArgumentTypes()) {
    reference::Tensor tensor(cast<RankedTensorType>(type));
    for (int64_t at = 0; at < tensor.size(); ++at) {
      next += 0.37;
      if (tensor.isFloat())
        tensor.setFloat(at, scale * std::sin(next * next));
      else
        tensor.setInteger(at, std::sin(next * next) > -0.3);
    }
    arguments.push_back({tensor});
  }
  auto results = reference::evaluate(function, arguments, 1);
  EXPECT_TRUE(succeeded(results));
  std::vector<reference::Tensor> tensors;
  for (const reference::RankTensors& result : *results) tensors.push_back(result.front());
  return tensors;
}

}  // namespace mlir::sgd

#endif
