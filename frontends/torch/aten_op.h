// One ATen op that is being lowered, and the table that maps ops to lowerings.
#ifndef SGD_FRONTENDS_TORCH_ATEN_OP_H
#define SGD_FRONTENDS_TORCH_ATEN_OP_H

#include "frontends/torch/exported_program.h"
#include "llvm/ADT/StringMap.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd::torch {

/// The graph's element type of a ScalarType; null if it is not supported.
Type getElementType(MLIRContext* context, int scalarType);

class AtenOp {
 public:
  using Values = llvm::StringMap<Value>;

  /// `values` has the op's operands by name; `types` are those of the op's outputs.
  AtenOp(const Node& node, Values& values, ArrayRef<RankedTensorType> types, OpBuilder& builder, Location loc)
      : math(builder, loc), node(node), values(values), types(types), results(types.size()) {}

  // Arguments
  // ---------------------------------------------------------------------------------------------------------------

  /// Whether the argument is there and not None.
  bool has(StringRef name) const;
  /// Null for None and for an argument that is not there.
  Value tensor(StringRef name) const;
  SmallVector<Value> tensors(StringRef name) const;
  int64_t integer(StringRef name, int64_t otherwise) const;
  SmallVector<int64_t> integers(StringRef name, ArrayRef<int64_t> otherwise = {}) const;
  double number(StringRef name, double otherwise) const;
  bool flag(StringRef name, bool otherwise) const;
  StringRef text(StringRef name, StringRef otherwise) const;

  // Values
  // ---------------------------------------------------------------------------------------------------------------

  RankedTensorType type(unsigned output = 0) const { return types[output]; }
  Type element(unsigned output = 0) const { return types[output].getElementType(); }

  /// `value` with elements of another type, as Tensor.to converts them.
  Value convert(Value value, Type element);
  /// `value` repeated to `shape` by PyTorch's rules of broadcasting.
  Value expand(Value value, ArrayRef<int64_t> shape);
  /// A tensor or a number as a tensor of `type`.
  Value operand(StringRef name, RankedTensorType type);
  /// `type` with the elements that PyTorch computes an op on these tensors and numbers in.
  RankedTensorType promote(ArrayRef<StringRef> names, ArrayRef<int64_t> shape) const;
  Value splat(double value) { return constant(types.front(), value); }
  /// A constant of floats or integers.
  Value constant(RankedTensorType type, double value);

  LogicalResult finish(Value value, unsigned output = 0) {
    results[output] = value;
    return success();
  }
  ArrayRef<Value> getResults() const { return results; }
  unsigned getNumOutputs() const { return types.size(); }

  /// An op that writes to its argument `name` gives it this value.
  void overwrite(StringRef name, Value value);

  /// Fails unless `a` and `b` have equally many dimensions.
  LogicalResult requireSameRank(Value a, Value b) const;

  InFlightDiagnostic error() const { return emitError(math.getLoc()) << "'" << node.target << "' "; }

  TensorMath math;

 private:
  const Argument* find(StringRef name) const;

  const Node& node;
  Values& values;
  ArrayRef<RankedTensorType> types;
  SmallVector<Value> results;
};

using LowerFn = LogicalResult (*)(AtenOp&);

/// A lowering, the arguments that must be tensors, and the fewest dimensions of the first of them.
struct OpEntry {
  OpEntry() = default;
  OpEntry(LowerFn lower, std::initializer_list<StringRef> required = {"self"}, int64_t leastRank = 0)
      : lower(lower), required(required), leastRank(leastRank) {}

  LowerFn lower = nullptr;
  SmallVector<StringRef, 3> required;
  int64_t leastRank = 0;
};

/// By target without the namespace: "add.Tensor".
using OpTable = llvm::StringMap<OpEntry>;

void addContractionOps(OpTable& table);
void addElementwiseOps(OpTable& table);
void addIndexOps(OpTable& table);
void addLossOps(OpTable& table);
void addNormalizationOps(OpTable& table);
void addReductionOps(OpTable& table);
void addShapeOps(OpTable& table);
void addWindowOps(OpTable& table);

/// A dimension counted from the end where it is negative; always one of the tensor's, whatever a damaged archive says.
inline int64_t wrapDim(int64_t dim, int64_t rank) {
  int64_t last = std::max<int64_t>(rank, 1) - 1;
  return std::clamp<int64_t>(dim < 0 ? dim + last + 1 : dim, 0, last);
}

/// softmax or its logarithm over `dim`.
Value writeSoftmax(TensorMath& math, Value value, int64_t dim, bool isLogarithm);

/// The reduction of `value` over `dims`, which stay with size 1.
Value reduceKeeping(TensorMath& math, Value value, ReduceKind kind, ArrayRef<int64_t> dims);
/// A value with dimensions of size 1 repeated to `shape`.
Value stretch(TensorMath& math, Value value, ArrayRef<int64_t> shape);

}  // namespace mlir::sgd::torch

#endif
