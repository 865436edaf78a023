// Gradients of generated programs: by the pass sgd-differentiate, against central differences, and on all ranks.
#ifndef SGD_TESTS_FUZZ_DERIVATIVE_CHECK_H
#define SGD_TESTS_FUZZ_DERIVATIVE_CHECK_H

#include "llvm/ADT/StringRef.h"
#include "tests/fuzz/outcome.h"

namespace mlir::sgd::fuzz {

/// A line of a program whose last result, a scalar of floats, is differentiated by all arguments of floats.
inline constexpr llvm::StringLiteral kDerivativesDirective = "// derivatives";

bool asksForDerivatives(const std::string& text);

/// Differs where the slope along a direction of some argument, in f64, is not that of the gradient, or where the
/// program with gradients differs on its ranks. Refused as "not judged" where the program is not smooth near its
/// inputs, or flat.
Outcome checkDerivatives(const std::string& text);

}  // namespace mlir::sgd::fuzz

#endif
