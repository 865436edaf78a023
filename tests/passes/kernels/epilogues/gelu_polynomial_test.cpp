// Polynomials of gelu: what is equal, and what is only near.
#include "passes/kernels/epilogues/gelu_polynomial.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

const GeluPolynomial kX(GeluVariable::X), kT(GeluVariable::T), kP(GeluVariable::P);

GeluPolynomial constant(double value) { return GeluPolynomial(value); }

TEST(GeluPolynomial, EqualFormsAreEqual) {
  EXPECT_TRUE((kX * constant(0.5) + kT * constant(0.5) * kX).isNear(GeluPolynomial::getGelu(), 0));
  EXPECT_TRUE((constant(0.5) * (kX + kX * kT)).isNear(GeluPolynomial::getGelu(), 0));
  EXPECT_FALSE((constant(0.5) * (kX + kX * kX)).isNear(GeluPolynomial::getGelu(), 0.5));
}

TEST(GeluPolynomial, TermsThatCancelAreGone) {
  EXPECT_TRUE((kX + constant(-1) * kX).isConstant());
  EXPECT_EQ((kX + constant(-1) * kX).getConstant(), 0);
  EXPECT_EQ((constant(2) * constant(3)).getConstant(), 6);
  EXPECT_FALSE((kX + constant(1)).isConstant());
}

TEST(GeluPolynomial, ToleranceIsRelative) {
  EXPECT_TRUE((constant(1.001) * kX).isNear(kX, 0.002));
  EXPECT_FALSE((constant(1.001) * kX).isNear(kX, 0.0005));
  EXPECT_FALSE((kX + constant(1e-9)).isNear(kX, 0.5));
  EXPECT_FALSE(kX.isNear(kP, 1));
}

// g * ((1 + t) / 2 + x/2 * (1 - t) * (1 + t) * k * (1 + 3 * 0.044715 * x * x)), as a derivative by hand has it.
TEST(GeluPolynomial, GradientInAnotherOrder) {
  const double k = 0.7978845608028654;
  GeluPolynomial gradient = kP * constant(0.5) * (constant(1) + kT) +
                            kP * kX * constant(0.5 * k) * (constant(1) + constant(-1) * kT) * (constant(1) + kT) *
                                (constant(1) + constant(3 * 0.044715) * kX * kX);
  EXPECT_TRUE(gradient.isNear(GeluPolynomial::getGradient(), 1e-12));
}

}  // namespace
}  // namespace mlir::sgd
