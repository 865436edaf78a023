// Values that a checked program is given: random, repeatable, and such that interesting results are likely.
#ifndef SGD_TESTS_DIFFERENTIAL_INPUTS_H
#define SGD_TESTS_DIFFERENTIAL_INPUTS_H

#include <map>
#include <random>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/tensor.h"

namespace mlir::sgd::differential {

/// A program's text describes its inputs in comments of a line each:
///
///     // seed: 17
///     // arg1: -2..5          numbers in this range, both ends included; whole ones for integers
///     // arg2: special        infinities, NaN, zeros of both signs and the ends of the type's range among others
struct InputDirectives {
  struct Range {
    double low = 0, high = 0;
    bool isSpecial = false;
  };
  uint64_t seed = 1;
  std::map<unsigned, Range> arguments;  // by position

  static InputDirectives parse(StringRef text);
};

/// One global tensor per argument of `function`. Without a range, most are small numbers, with equal ones among them; a
/// part of the integers is anything that the type holds.
std::vector<reference::Tensor> makeInputs(func::FuncOp function, const InputDirectives& directives);

}  // namespace mlir::sgd::differential

#endif
