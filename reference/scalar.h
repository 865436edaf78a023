// Semantics of the elementwise ops for one element. Written from their descriptions, independently of the code
// generator.
#ifndef SGD_REFERENCE_SCALAR_H
#define SGD_REFERENCE_SCALAR_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd::reference {

/// The value of a float op named `name` without its dialect ("exp", "maximumf"), unrounded; nullopt for unknown ops.
std::optional<double> evaluateUnary(StringRef name, double x);
std::optional<double> evaluateBinary(StringRef name, double x, double y);

/// The value of an integer op on values of `type`, not wrapped; nullopt for unknown ops.
std::optional<int64_t> evaluateBinary(StringRef name, int64_t x, int64_t y, Type type);

bool compare(arith::CmpFPredicate predicate, double x, double y);
bool compare(arith::CmpIPredicate predicate, int64_t x, int64_t y, Type type);

/// Rounded to zero, saturated to the range of `type`; NaN is 0.
int64_t toInteger(double x, Type type, bool isSigned);

/// Two values combined by `kind`, unrounded; null for a kind that floats do not have.
using FloatCombiner = double (*)(double, double);
FloatCombiner getFloatCombiner(ReduceKind kind);
int64_t combine(ReduceKind kind, int64_t x, int64_t y, Type type);

}  // namespace mlir::sgd::reference

#endif
