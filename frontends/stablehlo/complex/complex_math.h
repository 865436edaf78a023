// Formulas on complex numbers, as ops on their parts. Results are within a few units in the last place of the larger
// part, for all finite arguments unless said, and do not overflow where the result does not.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_MATH_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_MATH_H

#include "frontends/stablehlo/complex/complex_op.h"

namespace mlir::sgd {

/// f64 for parts of f32, in which formulas need no care for overflow, cancellation and rounding; else the parts' own.
Type getWideElement(RealMath& m, Value part);
bool isF64(Value part);

Complex multiply(RealMath& m, Complex x, Complex y);
Complex divide(RealMath& m, Complex x, Complex y);
/// sqrt(x^2 + y^2)
Value hypotenuse(RealMath& m, Value x, Value y);
/// log(sqrt(x^2 + y^2)), also near 1, where the logarithm is small.
Value logMagnitude(RealMath& m, Value x, Value y);
Complex squareRoot(RealMath& m, Complex z);

/// `formula` of the op's operand, in f64 on parts of f32.
template <Complex (*formula)(RealMath&, Complex)>
LogicalResult expandInWide(ComplexOp& c) {
  Complex z = c.operand();
  Type own = tensorType(z.re).getElementType();
  return c.finish(c.convert(formula(c, c.convert(z, getWideElement(c, z.re))), own));
}

/// sinh(x) = sinh * factor and cosh(x) = cosh * factor, of which the products may overflow though another factor is
/// small.
struct Hyperbolic {
  Value sinh, cosh, factor;
};
Hyperbolic hyperbolic(RealMath& m, Value x);

}  // namespace mlir::sgd

#endif
