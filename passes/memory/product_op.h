// Matrix products and convolutions alike: what an epilogue may follow.
#ifndef SGD_PASSES_MEMORY_PRODUCT_OP_H
#define SGD_PASSES_MEMORY_PRODUCT_OP_H

#include "dialects/plan/plan_dialect.h"
#include "passes/library/library_model.h"

namespace mlir::sgd {

/// A plan.matmul or plan.convolution; null for any other op.
class ProductOp {
 public:
  explicit ProductOp(Operation* op);
  explicit operator bool() const { return op != nullptr; }
  Operation* getOperation() const { return op; }
  Location getLoc() const { return op->getLoc(); }

  /// The buffer that it writes to.
  Value getTarget() const;
  /// The two buffers whose elements it multiplies.
  std::array<Value, 2> getFactors() const;
  /// Whether something follows the sum already.
  bool hasEpilogue() const;
  /// Whether the libraries compute it with the epilogue.
  bool isTaken(const LibraryModel& libraries, ArrayRef<Epilogue> epilogue) const;
  /// Elements of a bias: element j is added to column j.
  int64_t getColumns() const;
  /// Whether column j, and nothing else, lies at the elements of a buffer of `elements` whose number modulo the columns
  /// is j.
  bool isRowMajor(int64_t elements) const;
  /// The same product once more, at the builder's place, with another target, bias (or null) and epilogue.
  Operation* create(OpBuilder& builder, Value target, Value bias, plan::Epilogue epilogue) const;

 private:
  Operation* op;
};

}  // namespace mlir::sgd

#endif
