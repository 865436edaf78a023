// From a program that fails to a simpler one that fails in the same way.
#ifndef SGD_TESTS_FUZZ_SHRINK_H
#define SGD_TESTS_FUZZ_SHRINK_H

#include "tests/fuzz/families.h"
#include "tests/fuzz/outcome.h"

namespace mlir::sgd::fuzz {

struct Failure {
  std::vector<uint64_t> choices;
  std::string text;
  Outcome outcome;
};

/// Shortens and lowers the decisions behind `failure` as long as programs of `family` keep failing, for at most
/// `seconds`.
Failure shrink(size_t family, Failure failure, double seconds);

}  // namespace mlir::sgd::fuzz

#endif
