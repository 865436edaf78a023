// The values of a function with and without the padding of their rows, and with padding that holds a filler.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_PADDED_VALUES_H
#define SGD_PASSES_TIME_SEQUENTIAL_PADDED_VALUES_H

#include "passes/time/sequential/batch_rows.h"

namespace mlir::sgd {

/// Each value is computed in one form: with padding, which may hold anything, or without. The other forms are written
/// behind it when they are first needed.
class PaddedValues {
 public:
  explicit PaddedValues(const BatchRows& rows) : rows(rows) {}

  /// Where `value` is padded as it is computed.
  std::optional<RowsDim> get(Value value) const;
  /// `value` has padding from here on: changes its type.
  void setPadded(Value value, RowsDim dim);

  /// Makes `operand` padded along `dim`, or without padding where it is nullopt.
  void bring(OpOperand& operand, std::optional<RowsDim> dim);
  /// Makes `operand` padded along `dim`, by elements that are `filler`, a scalar.
  void fill(OpOperand& operand, RowsDim dim, TypedAttr filler);

 private:
  Value getWhole(Value value);
  Value getPadded(Value value, RowsDim dim, TypedAttr filler);
  Value getFilled(Value value, RowsDim dim, TypedAttr filler);
  bool makeFreely(OpOperand& operand, RowsDim dim);

  using Key = std::tuple<Value, unsigned, unsigned, Attribute>;  // value, batch, dimension, filler

  const BatchRows& rows;
  DenseMap<Value, RowsDim> padded;
  DenseMap<Value, Value> whole;
  DenseMap<Key, Value> extended, filled;
};

}  // namespace mlir::sgd

#endif
