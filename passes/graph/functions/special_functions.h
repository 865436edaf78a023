// Special functions that the graph level has no op for, from the ops that it has. Elementwise, on floats of any type;
// narrow ones are computed in f32.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_SPECIAL_FUNCTIONS_H
#define SGD_PASSES_GRAPH_FUNCTIONS_SPECIAL_FUNCTIONS_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// y with erf(y) = x, to about 1e-7 in relative terms, 1e-15 of f64.
Value writeErfInv(TensorMath& math, Value x);
/// log(1 + e^x), without overflow. Its derivative is the sigmoid everywhere, at 0 too.
Value writeSoftplus(TensorMath& math, Value x);
/// The neighbour of `x` towards `y`, in their own type.
Value writeNextAfter(TensorMath& math, Value x, Value y);
/// As the C library's: of zeros the signs count.
Value writeAtan2(TensorMath& math, Value y, Value x);
/// log |gamma(x)|.
Value writeLogGamma(TensorMath& math, Value x);
Value writeDigamma(TensorMath& math, Value x);
/// The Hurwitz zeta function: the sum of (q + n)^-x over n >= 0.
Value writeZeta(TensorMath& math, Value x, Value q);
/// Derivative `n` of digamma; NaN where n is no whole number from 0 on.
Value writePolygamma(TensorMath& math, Value n, Value x);
/// The regularized incomplete gamma functions for a > 0 and x >= 0: the integral of t^(a-1) e^-t from 0 to x, or from x
/// on with `isUpper`, over gamma(a). NaN elsewhere. A loop until all elements have converged, of at most 20,000 terms,
/// which a up to 10^7 needs.
Value writeIncompleteGamma(TensorMath& math, Value a, Value x, bool isUpper);
/// exp(x^2) erfc(x).
Value writeScaledErfc(TensorMath& math, Value x);
/// exp(-|x|) times the modified Bessel function of the first kind of order zero, and of order one.
Value writeBesselI0e(TensorMath& math, Value x);
Value writeBesselI1e(TensorMath& math, Value x);

}  // namespace mlir::sgd

#endif
