// A straightforward evaluator of cluster bodies, element by element, floats in double precision.
#ifndef SGD_TESTS_TARGETS_CPU_CODEGEN_REFERENCE_H
#define SGD_TESTS_TARGETS_CPU_CODEGEN_REFERENCE_H

#include "tests/targets/cpu/codegen/kernel_runner.h"

namespace mlir::sgd::cpu {

/// The results of `cluster` on `inputs`; bf16 and f16 values are rounded after each op.
std::vector<Tensor> evaluate(ClusterOp cluster, const std::vector<Tensor>& inputs);

}  // namespace mlir::sgd::cpu

#endif
