// Elementwise expressions as polynomials, to see whether they are gelu or its derivative however they are written.
// Plain C++, no IR.
#ifndef SGD_PASSES_KERNELS_EPILOGUES_GELU_POLYNOMIAL_H
#define SGD_PASSES_KERNELS_EPILOGUES_GELU_POLYNOMIAL_H

#include <array>
#include <map>

namespace mlir::sgd {

/// The variables of the polynomials: x before the activation, t = tanh(sqrt(2/pi) * (x + 0.044715 * x^3)), and the
/// matmul p that a gradient comes as.
enum class GeluVariable { X, T, P };

/// A sum of monomials. Two expressions of the same polynomial are equal but for rounding.
class GeluPolynomial {
 public:
  GeluPolynomial() = default;  ///< zero
  explicit GeluPolynomial(double constant) { add({}, constant); }
  explicit GeluPolynomial(GeluVariable variable);

  GeluPolynomial operator+(const GeluPolynomial& other) const;
  GeluPolynomial operator*(const GeluPolynomial& other) const;

  /// Larger ones are no part of gelu, and cost time.
  bool isTooLarge() const { return terms.size() > 24; }
  bool isConstant() const;
  /// Returns the value of a constant polynomial.
  double getConstant() const { return terms.empty() ? 0 : terms.begin()->second; }
  /// Whether both have the same monomials with coefficients that differ by at most `tolerance` of the other's.
  bool isNear(const GeluPolynomial& other, double tolerance) const;

  static GeluPolynomial getTanhArgument();  ///< sqrt(2/pi) * (x + 0.044715 * x^3)
  static GeluPolynomial getGelu();          ///< x/2 * (1 + t)
  static GeluPolynomial getGradient();      ///< p * gelu'(x)

 private:
  using Exponents = std::array<int, 3>;  // of x, t and p

  void add(const Exponents& exponents, double coefficient);

  std::map<Exponents, double> terms;
};

}  // namespace mlir::sgd

#endif
