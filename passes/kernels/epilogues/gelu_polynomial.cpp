// Sums and products of polynomials in three variables, and the ones that gelu is made of.
#include "passes/kernels/epilogues/gelu_polynomial.h"

#include <cmath>

using namespace mlir::sgd;

namespace {

const double kScale = std::sqrt(2 / M_PI);
constexpr double kCubic = 0.044715;

}  // namespace

GeluPolynomial::GeluPolynomial(GeluVariable variable) {
  Exponents exponents = {};
  exponents[static_cast<size_t>(variable)] = 1;
  add(exponents, 1);
}

void GeluPolynomial::add(const Exponents& exponents, double coefficient) {
  double& sum = terms[exponents];
  sum += coefficient;
  if (sum == 0) terms.erase(exponents);
}

GeluPolynomial GeluPolynomial::operator+(const GeluPolynomial& other) const {
  GeluPolynomial sum = *this;
  for (const auto& [exponents, coefficient] : other.terms) sum.add(exponents, coefficient);
  return sum;
}

GeluPolynomial GeluPolynomial::operator*(const GeluPolynomial& other) const {
  GeluPolynomial product;
  for (const auto& [left, a] : terms)
    for (const auto& [right, b] : other.terms)
      product.add({left[0] + right[0], left[1] + right[1], left[2] + right[2]}, a * b);
  return product;
}

bool GeluPolynomial::isConstant() const {
  return terms.empty() || (terms.size() == 1 && terms.begin()->first == Exponents{});
}

bool GeluPolynomial::isNear(const GeluPolynomial& other, double tolerance) const {
  if (terms.size() != other.terms.size()) return false;
  for (auto mine = terms.begin(), its = other.terms.begin(); mine != terms.end(); ++mine, ++its) {
    if (mine->first != its->first) return false;
    if (!(std::abs(mine->second - its->second) <= tolerance * std::abs(its->second))) return false;
  }
  return true;
}

GeluPolynomial GeluPolynomial::getTanhArgument() {
  GeluPolynomial x(GeluVariable::X);
  return GeluPolynomial(kScale) * (x + GeluPolynomial(kCubic) * x * x * x);
}

GeluPolynomial GeluPolynomial::getGelu() {
  return GeluPolynomial(0.5) * GeluPolynomial(GeluVariable::X) *
         (GeluPolynomial(1.0) + GeluPolynomial(GeluVariable::T));
}

GeluPolynomial GeluPolynomial::getGradient() {
  GeluPolynomial x(GeluVariable::X), t(GeluVariable::T), one(1.0), half(0.5);
  GeluPolynomial inner = GeluPolynomial(kScale) * (one + GeluPolynomial(3 * kCubic) * x * x);
  GeluPolynomial derivative = half * (one + t) + half * x * (one + GeluPolynomial(-1.0) * t * t) * inner;
  return GeluPolynomial(GeluVariable::P) * derivative;
}
