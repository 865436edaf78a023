// Between the tensors of kernels, which are bytes, and those of the reference evaluator.
#include "tests/targets/kernels/reference.h"

#include "dialects/fusion/fusion_dialect.h"
#include <gtest/gtest.h>

#include "reference/evaluate.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

std::vector<Tensor> mlir::sgd::kernels::evaluate(fusion::ClusterOp cluster, const std::vector<Tensor>& inputs) {
  std::vector<reference::Tensor> arguments;
  for (const Tensor& input : inputs) arguments.push_back(reference::Tensor::fromBytes(input.type, input.bytes));
  auto values = reference::evaluate(cluster.getBody().front(), arguments);
  std::vector<Tensor> results;
  if (failed(values)) {
    ADD_FAILURE() << "the reference does not know an op of the cluster";
    return results;
  }
  for (const reference::Tensor& value : *values) value.toBytes(results.emplace_back(value.type).bytes);
  return results;
}
