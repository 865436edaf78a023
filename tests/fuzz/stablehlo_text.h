// Pieces of StableHLO's text that several families print.
#ifndef SGD_TESTS_FUZZ_STABLEHLO_TEXT_H
#define SGD_TESTS_FUZZ_STABLEHLO_TEXT_H

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

/// `tensor<f32>`: the type of one element of `value`.
std::string printScalar(const Value& value);

/// A region of two scalars like elements of `like`: `({^bb0(%p, %q): %s = stablehlo.OP %p, %q; return %s})`.
std::string printCombiner(const Value& like, const std::string& op);

/// `stablehlo.compare DIRECTION, %p, %q, ... ` of two such scalars.
std::string printComparison(const Value& like, const std::string& direction);

/// The same, but NaN is greatest: an order, as sort needs it.
std::string printOrder(const Value& like, const std::string& direction);

/// A scalar constant; `value` as a dense attribute has it.
Value addConstant(Program& program, const std::string& element, const std::string& value);

/// The neutral element of add, multiply, maximum or minimum, as a constant.
Value addNeutral(Program& program, const Value& like, const std::string& op);

/// A value of numbers of a rank in this range.
Value getNumbers(Program& program, int64_t minRank, int64_t maxRank, const Range& range = {});

}  // namespace mlir::sgd::fuzz

#endif
