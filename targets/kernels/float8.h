// Code for floats of 8 bits: sign, exponent and mantissa, with gradual underflow. Written with integer operations, so
// that every target gives the same bits.
#ifndef SGD_TARGETS_KERNELS_FLOAT8_H
#define SGD_TARGETS_KERNELS_FLOAT8_H

#include <optional>

#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::kernels {

/// E4M3FN: exponent bias 7, up to 448, no infinity; what rounds to more is NaN (0x7f). E5M2: exponent bias 15, up to
/// 57344, with infinities, as the upper half of f16.
class Float8Format {
 public:
  /// Nothing for other types.
  static std::optional<Float8Format> of(Type type);

  /// Rounds lanes of f32 to nearest, ties to even, to what the format can hold; a NaN stays one.
  llvm::Value* round(const VectorBuilder& v, llvm::Value* x) const;
  /// Lanes of f32 that the format holds exactly to its bytes, and back.
  llvm::Value* toMemory(const VectorBuilder& v, llvm::Value* x) const;
  llvm::Value* fromMemory(const VectorBuilder& v, llvm::Value* bytes) const;

 private:
  Float8Format(unsigned mantissa, int bias, bool hasInfinity)
      : mantissa(mantissa), bias(bias), hasInfinity(hasInfinity) {}

  unsigned mantissa;  ///< bits
  int bias;
  bool hasInfinity;
};

}  // namespace mlir::sgd::kernels

#endif
