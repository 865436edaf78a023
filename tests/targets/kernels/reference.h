// Clusters evaluated by the reference evaluator, on the tensors of the kernel runner.
#ifndef SGD_TESTS_TARGETS_KERNELS_REFERENCE_H
#define SGD_TESTS_TARGETS_KERNELS_REFERENCE_H

#include "dialects/fusion/fusion_dialect.h"
#include "tests/targets/kernels/kernel_runner.h"

namespace mlir::sgd::kernels {

/// The results of `cluster` on `inputs`: computed in double precision and rounded after each op.
std::vector<Tensor> evaluate(fusion::ClusterOp cluster, const std::vector<Tensor>& inputs);

}  // namespace mlir::sgd::kernels

#endif
