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

  /// Returns random bits, integers of the type, and advances the program's generator.
  using DrawBits = function_ref<Value(TensorMath&, RankedTensorType)>;

  /// `values` maps names to tensors; `types` has the type of each output.
  AtenOp(const Node& node, Values& values, ArrayRef<RankedTensorType> types, OpBuilder& builder, Location loc,
         DrawBits drawBits)
      : math(builder, loc), node(node), values(values), types(types), drawBits(drawBits), results(types.size()) {}

  // Arguments
  // ---------------------------------------------------------------------------------------------------------------

  /// Returns whether the argument is present and not None.
  bool has(StringRef name) const;
  /// Returns null if the argument is None or missing.
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

  /// Converts elements as Tensor.to does.
  Value convert(Value value, Type element);
  /// Broadcasts `value` to `shape` by PyTorch's rules.
  Value expand(Value value, ArrayRef<int64_t> shape);
  /// Returns an argument, a tensor or a number, as a tensor of `type`.
  Value operand(StringRef name, RankedTensorType type);
  /// Returns a tensor type of `shape` with the element type that PyTorch promotes these arguments to.
  RankedTensorType promote(ArrayRef<StringRef> names, ArrayRef<int64_t> shape) const;
  Value splat(double value) { return constant(types.front(), value); }
  /// Creates a constant of floats or integers.
  Value constant(RankedTensorType type, double value);

  /// Draws floats uniformly from [0, 1).
  Value drawUniform(RankedTensorType type);
  /// Draws floats from the standard normal distribution.
  Value drawNormal(RankedTensorType type);
  /// Zeroes each element with probability `p` and divides the others by 1 - p. Sets `kept` to the mask of the others.
  Value dropOut(Value value, double p, Value& kept);

  LogicalResult finish(Value value, unsigned output = 0) {
    results[output] = value;
    return success();
  }
  ArrayRef<Value> getResults() const { return results; }
  unsigned getNumOutputs() const { return types.size(); }

  /// An op that writes to its argument `name` gives that tensor a new value.
  void overwrite(StringRef name, Value value);
  /// Tensors that the op has written to, by name, with their new values.
  ArrayRef<std::pair<std::string, Value>> getWrites() const { return writes; }

  /// Fails unless `a` and `b` have the same rank.
  LogicalResult requireSameRank(Value a, Value b) const;

  InFlightDiagnostic error() const { return emitError(math.getLoc()) << "'" << node.target << "' "; }

  TensorMath math;

 private:
  const Argument* find(StringRef name) const;

  const Node& node;
  Values& values;
  ArrayRef<RankedTensorType> types;
  DrawBits drawBits;
  SmallVector<Value> results;
  SmallVector<std::pair<std::string, Value>> writes;
};

using LowerFn = LogicalResult (*)(AtenOp&);

/// A lowering, the arguments that must be tensors, and the least rank of the first of them.
struct OpEntry {
  OpEntry() = default;
  OpEntry(LowerFn lower, std::initializer_list<StringRef> required = {"self"}, int64_t leastRank = 0)
      : lower(lower), required(required), leastRank(leastRank) {}

  LowerFn lower = nullptr;
  SmallVector<StringRef, 3> required;
  int64_t leastRank = 0;
};

/// Lowerings by target without the namespace: "add.Tensor".
using OpTable = llvm::StringMap<OpEntry>;

void addContractionOps(OpTable& table);
void addElementwiseOps(OpTable& table);
void addIndexOps(OpTable& table);
void addLossOps(OpTable& table);
void addNormalizationOps(OpTable& table);
void addRandomOps(OpTable& table);
void addRecurrentOps(OpTable& table);
void addReductionOps(OpTable& table);
void addShapeOps(OpTable& table);
void addWindowOps(OpTable& table);

/// Resolves a dimension that may count from the end. Clamps it, so that a damaged archive cannot index out of bounds.
inline int64_t wrapDim(int64_t dim, int64_t rank) {
  int64_t last = std::max<int64_t>(rank, 1) - 1;
  return std::clamp<int64_t>(dim < 0 ? dim + last + 1 : dim, 0, last);
}

Value writeSigmoid(TensorMath& math, Value x);
/// Zero where x is negative. Its derivative at 0 is 0, as PyTorch's is; a maximum would have 1/2.
Value writeRelu(TensorMath& math, Value x);
/// Multiplies x [.., k] by the transpose of w [n, k].
Value multiplyByTransposed(TensorMath& math, Value x, Value w);
/// Writes the softmax over `dim`, or its logarithm.
Value writeSoftmax(TensorMath& math, Value value, int64_t dim, bool isLogarithm);

/// Reduces `value` over `dims`, which keep size 1.
Value reduceKeeping(TensorMath& math, Value value, ReduceKind kind, ArrayRef<int64_t> dims);
/// Repeats dimensions of size 1 to `shape`.
Value stretch(TensorMath& math, Value value, ArrayRef<int64_t> shape);

}  // namespace mlir::sgd::torch

#endif
