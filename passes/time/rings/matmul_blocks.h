// A matmul of a block of the rows of one operand.
#ifndef SGD_PASSES_TIME_RINGS_MATMUL_BLOCKS_H
#define SGD_PASSES_TIME_RINGS_MATMUL_BLOCKS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Operand `operand` of `dot` along its dimension `dim`, which is that of the result too: neither batch nor
/// contracting.
struct FreeDim {
  DotGeneralOp dot;
  unsigned operand;
  int64_t dim, resultDim;

  /// Finds an operand's dimension; nothing if it is not free, or if both operands are one value.
  static std::optional<FreeDim> ofOperand(DotGeneralOp dot, unsigned operand, int64_t dim);
  static std::optional<FreeDim> ofResult(DotGeneralOp dot, int64_t resultDim);

  Value getOperand() const { return DotGeneralOp(dot)->getOperand(operand); }

  /// The result's block for `block` instead of the operand.
  Value multiply(OpBuilder& builder, Value block) const;
};

}  // namespace mlir::sgd

#endif
