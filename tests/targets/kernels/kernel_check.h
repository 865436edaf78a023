// Texts of clusters, and their comparison with the reference evaluator over variants of the target, cuts and in-place
// choices.
#ifndef SGD_TESTS_TARGETS_KERNELS_KERNEL_CHECK_H
#define SGD_TESTS_TARGETS_KERNELS_KERNEL_CHECK_H

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/targets/kernels/kernel_runner.h"

namespace mlir::sgd::kernels {

/// Runs the cluster of `text` whole, cut at every grain, in place, and by each variant of the target: the bits must
/// agree within a variant, and be within `tolerance` of the reference relative to the largest element. `prepare` may
/// change the inputs.
void check(const std::string& text, double tolerance = 2e-6, std::function<void(std::vector<Tensor>&)> prepare = {});

/// Fails unless each element is within `tolerance` of the expected one, relative to the largest of its tensor.
void expectClose(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, double tolerance);

/// A function with one cluster; `operands` and `results` are types separated by "; ".
std::string cluster(const std::string& operands, const std::string& results, const std::string& arguments,
                    const std::string& body);

/// The text of a tensor type.
std::string shape(std::initializer_list<int> dims, const std::string& type);

}  // namespace mlir::sgd::kernels

#endif
