// A matmul of any level as an einsum over labelled dimensions: fusion.matmul, and dot_general, whose labels are made
// up.
#ifndef SGD_PASSES_GRAPH_ATTENTION_LABELLED_MATMUL_H
#define SGD_PASSES_GRAPH_ATTENTION_LABELLED_MATMUL_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

class LabelledMatmul {
 public:
  /// No matmul: false in conditions.
  LabelledMatmul() = default;
  /// Reads `op`; converts to false if it is no matmul.
  explicit LabelledMatmul(Operation* op);

  explicit operator bool() const { return op != nullptr; }
  bool operator==(const LabelledMatmul& other) const { return op == other.op; }
  Operation* operator->() const { return op; }

  Value getLhs() const { return op->getOperand(0); }
  Value getRhs() const { return op->getOperand(1); }
  Value getResult() const { return op->getResult(0); }
  RankedTensorType getType() const { return cast<RankedTensorType>(getResult().getType()); }
  /// Return the label of each dimension; equal labels are the same dimension.
  ArrayRef<int64_t> getLhsLabels() const { return lhsLabels; }
  ArrayRef<int64_t> getRhsLabels() const { return rhsLabels; }
  ArrayRef<int64_t> getResultLabels() const { return resultLabels; }

 private:
  Operation* op = nullptr;
  SmallVector<int64_t> lhsLabels, rhsLabels, resultLabels;
};

}  // namespace mlir::sgd

#endif
