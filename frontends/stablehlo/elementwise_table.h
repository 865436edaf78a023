// Ops of the input dialects that are one elementwise op of the graph level: the import reads the table from left to
// right, the export from right to left.
#ifndef SGD_FRONTENDS_STABLEHLO_ELEMENTWISE_TABLE_H
#define SGD_FRONTENDS_STABLEHLO_ELEMENTWISE_TABLE_H

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

namespace mlir::sgd {

/// An op of `stablehlo` or `chlo`, and the op of the graph level that it is for each class of elements. An empty name
/// is a class that the op does not have, or that the import lowers by code of its own.
struct ElementwiseRow {
  StringLiteral name;
  StringLiteral onFloats, onSigned, onUnsigned, onBooleans;

  /// The op on operands with elements of type `element`, which may be an unsigned integer.
  StringRef getGraphOp(Type element) const;
};

ArrayRef<ElementwiseRow> getElementwiseRows();

/// The row of an op of the input dialects; null where there is none.
const ElementwiseRow* findElementwiseRow(StringRef inputOp);

/// A row of an op of the graph level, and whether its operands are unsigned integers there.
struct ElementwiseOrigin {
  const ElementwiseRow* row = nullptr;
  bool isUnsigned = false;
};
/// The first row that has `graphOp` for floats or signed integers, else for unsigned ones; null where there is none.
ElementwiseOrigin findElementwiseOrigin(StringRef graphOp);

}  // namespace mlir::sgd

#endif
