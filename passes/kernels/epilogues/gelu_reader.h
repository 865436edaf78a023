// Reads elementwise ops as polynomials (gelu_polynomial.h).
#ifndef SGD_PASSES_KERNELS_EPILOGUES_GELU_READER_H
#define SGD_PASSES_KERNELS_EPILOGUES_GELU_READER_H

#include <optional>

#include "mlir/IR/Value.h"
#include "passes/kernels/epilogues/gelu_polynomial.h"

namespace mlir::sgd {

/// Expressions in the operand of gelu, `x`, and in the matmul that a gradient comes as, `p`, if there is one. Both
/// are tensors of f16 or bf16.
class GeluReader {
 public:
  explicit GeluReader(Value x, Value p = {});

  bool isGelu(Value value) { return isNear(value, GeluPolynomial::getGelu()); }
  /// p * gelu'(x).
  bool isGradient(Value value) { return isNear(value, GeluPolynomial::getGradient()); }

 private:
  /// `value` as a polynomial, or nothing where it is none.
  std::optional<GeluPolynomial> read(Value value);
  std::optional<GeluPolynomial> readNew(Value value);
  std::optional<GeluPolynomial> combine(Operation* op, ArrayRef<GeluPolynomial> operands) const;
  bool isNear(Value value, const GeluPolynomial& wanted);

  double tolerance;  ///< how far coefficients may be off, relatively
  SmallVector<int64_t> shape;
  llvm::DenseMap<Value, std::optional<GeluPolynomial>> known;
};

}  // namespace mlir::sgd

#endif
