// One ATen op that is being lowered, and the table that maps ops to lowerings.
#ifndef SGD_FRONTENDS_TORCH_ATEN_OP_H
#define SGD_FRONTENDS_TORCH_ATEN_OP_H

#include "frontends/torch/exported_program.h"
#include "llvm/ADT/StringMap.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd::torch {

/// The graph's element type of a ScalarType; null if it is not supported. The graph's integers have a sign, so unsigned
/// bytes are computed in i16 and cut to their 8 bits after each op.
Type getElementType(MLIRContext* context, int scalarType);

class AtenOp {
 public:
  using Values = llvm::StringMap<Value>;

  /// Returns random bits, integers of the type, and advances the program's generator.
  using DrawBits = function_ref<Value(TensorMath&, RankedTensorType)>;

  /// `values` maps names to tensors; `types` has the type of each output.
  AtenOp(const ExportedProgram& program, const Node& node, Values& values, ArrayRef<RankedTensorType> types,
         OpBuilder& builder, Location loc, DrawBits drawBits)
      : math(builder, loc),
        program(program),
        node(node),
        values(values),
        types(types),
        drawBits(drawBits),
        results(types.size()) {}

  // Arguments
  // ---------------------------------------------------------------------------------------------------------------

  /// Returns whether the argument is present and not None.
  bool has(StringRef name) const;
  /// Returns whether the op is "aten.NAME", in any form.
  bool isNamed(StringRef name) const { return StringRef(node.target).split('.').second.split('.').first == name; }
  /// Returns null if the argument is None or missing.
  Value tensor(StringRef name) const;
  SmallVector<Value> tensors(StringRef name) const;
  /// Returns what the archive says of the tensor; null if the argument is none.
  const TensorInfo* info(StringRef name) const;
  int64_t integer(StringRef name, int64_t otherwise) const;
  SmallVector<int64_t> integers(StringRef name, ArrayRef<int64_t> otherwise = {}) const;
  double number(StringRef name, double otherwise) const;
  SmallVector<double> numbers(StringRef name) const;
  bool flag(StringRef name, bool otherwise) const;
  StringRef text(StringRef name, StringRef otherwise) const;

  // Values
  // ---------------------------------------------------------------------------------------------------------------

  /// Returns whether the archive has this output, which is None else.
  bool isPresent(unsigned output) const { return output < node.outputs.size() && !node.outputs[output].empty(); }
  /// Returns the type of an output; the last one's if a damaged archive lacks the output.
  RankedTensorType type(unsigned output = 0) const { return types[std::min<size_t>(output, types.size() - 1)]; }
  Type element(unsigned output = 0) const { return type(output).getElementType(); }

  /// Returns the argument `self` in the type of the result.
  Value self() { return operand("self", type()); }
  /// Converts elements as Tensor.to does.
  Value convert(Value value, Type element);
  /// Broadcasts `value` to `shape` by PyTorch's rules.
  Value expand(Value value, ArrayRef<int64_t> shape);
  /// Returns an argument, a tensor or a number, as a tensor of `type`.
  Value operand(StringRef name, RankedTensorType type);
  /// Returns the shape that PyTorch broadcasts these tensors to.
  SmallVector<int64_t> broadcastShape(ArrayRef<StringRef> names) const;
  /// Returns a tensor type of `shape` with the element type that PyTorch promotes these arguments to.
  RankedTensorType promote(ArrayRef<StringRef> names, ArrayRef<int64_t> shape) const;
  Value splat(double value) { return constant(types.front(), value); }
  /// Creates a constant of floats or integers.
  Value constant(RankedTensorType type, double value);
  /// Creates a constant of the least value of a type, or the largest; of floats, infinity.
  Value extreme(RankedTensorType type, bool isLeast);
  /// Creates a constant vector.
  Value vector(ArrayRef<double> values, Type element);
  Value vector(ArrayRef<int64_t> values);
  /// Each element is its index along `dim`, a number of `type`.
  Value count(RankedTensorType type, int64_t dim);

  /// Draws floats uniformly from [0, 1).
  Value drawUniform(RankedTensorType type);
  /// Draws floats from the standard normal distribution.
  Value drawNormal(RankedTensorType type);
  /// Returns what a training computes, and in an evaluation the other value, as after module.eval(); of one type.
  Value chooseByMode(Value training, Value evaluation);
  /// Unless it evaluates, zeroes each element with probability `p` and divides the others by 1 - p. Sets `kept` to the
  /// mask of the others.
  Value dropOut(Value value, double p, Value& kept);

  LogicalResult finish(Value value, unsigned output = 0) {
    if (output < results.size()) results[output] = value;
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

  const ExportedProgram& program;
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

/// Enters one lowering under several names.
inline void enter(OpTable& table, std::initializer_list<StringRef> names, const OpEntry& entry) {
  for (StringRef name : names) table[name] = entry;
}

void addActivationOps(OpTable& table);
void addAttentionOps(OpTable& table);
void addContractionOps(OpTable& table);
void addConvolutionOps(OpTable& table);
void addCreationOps(OpTable& table);
void addCumulativeOps(OpTable& table);
void addDerivativeOps(OpTable& table);
void addDistanceOps(OpTable& table);
void addEinsumOps(OpTable& table);
void addElementwiseOps(OpTable& table);
void addGammaOps(OpTable& table);
void addIndexOps(OpTable& table);
void addIntegerOps(OpTable& table);
void addJoinOps(OpTable& table);
void addLossOps(OpTable& table);
void addMarginLossOps(OpTable& table);
void addNormalizationOps(OpTable& table);
void addOrderOps(OpTable& table);
void addPadOps(OpTable& table);
void addPoolOps(OpTable& table);
void addRandomOps(OpTable& table);
void addRecurrentOps(OpTable& table);
void addReductionOps(OpTable& table);
void addResampleOps(OpTable& table);
void addScatterOps(OpTable& table);
void addShapeOps(OpTable& table);
void addSpecialOps(OpTable& table);
void addViewOps(OpTable& table);

/// Returns the lowering of "aten.add.Tensor"; null if there is none.
const OpEntry* findLowering(StringRef target);

/// Resolves a dimension that may count from the end. Clamps it, so that a damaged archive cannot index out of bounds.
inline int64_t wrapDim(int64_t dim, int64_t rank) {
  int64_t last = std::max<int64_t>(rank, 1) - 1;
  return std::clamp<int64_t>(dim < 0 ? dim + last + 1 : dim, 0, last);
}

Value writeSigmoid(TensorMath& math, Value x);
/// Zero where x is negative. Its derivative at 0 is 0, as PyTorch's is; a maximum would have 1/2.
Value writeRelu(TensorMath& math, Value x);
/// log(e^a + e^b), without overflow.
Value writeLogAddExp(TensorMath& math, Value a, Value b);
/// Multiplies x [.., k] by the transpose of w [n, k].
Value multiplyByTransposed(TensorMath& math, Value x, Value w);

/// (sum of |x|^order)^(1 / order) over `dims`, which keep size 1. The derivative at 0 is 0.
Value writeNorm(TensorMath& math, Value value, double order, ArrayRef<int64_t> dims);
/// Divides integers and rounds down.
Value writeFloorDivide(TensorMath& math, Value a, Value b);
/// Returns the remainder with the divisor's sign, of floats or integers.
Value writeRemainder(TensorMath& math, Value a, Value b);
/// Clamps; NaN stays. Null: no bound. At a bound the derivative is 0, as PyTorch's is.
Value writeClamp(TensorMath& math, Value x, Value least, Value most);
/// Indices of a dimension of `size`, none of them negative: negative ones count from the end.
Value wrapIndices(TensorMath& math, Value indices, int64_t size);

/// At least `rank` dimensions, as numpy adds them: in front, and for the third one behind.
Value addDims(TensorMath& math, Value value, int64_t rank);
/// One number per spatial dimension.
SmallVector<int64_t> getPerDim(AtenOp& op, StringRef name, int64_t rank, int64_t otherwise);

/// Elements [begin, end) of `dim`, every `step`th.
Value takeSlice(TensorMath& math, Value value, int64_t dim, int64_t begin, int64_t end, int64_t step = 1);
/// Slices of `value` where `indices`, none of them negative, name positions of `dim`; the dimensions of the indices
/// take the place of `dim`.
Value takeAlong(TensorMath& math, Value value, Value indices, int64_t dim);
/// value[.., index[i, j, k], ..] along `dim`; the other dimensions of the index, none of them larger than those of
/// `value`, are positions of their own.
Value gatherAlong(TensorMath& math, Value value, Value index, int64_t dim);
/// Combines `updates` with `value` at the places that gatherAlong would read.
Value scatterAlong(TensorMath& math, Value value, Value index, Value updates, int64_t dim, ScatterKind kind);
/// Sums of booleans are whether one is true.
inline ScatterKind getSumKind(Type element) { return element.isInteger(1) ? ScatterKind::Or : ScatterKind::Add; }
/// Grows `shape` to that of a tensor broadcast with one of shape `other`.
void widenShape(SmallVectorImpl<int64_t>& shape, ArrayRef<int64_t> other);
/// Marks the op that computes `value`: differentiation treats it as a constant.
Value stopGradient(Value value);

/// at::Reduction: a loss per element, their mean or their sum, as the op's `reduction` says. A mean divides by the sum
/// of `weights`, or by their number where null.
LogicalResult finishLoss(AtenOp& op, Value losses, Value weights = {});
/// Multiplies a [.., m, k] by b [.., k, n], or [.., n, k] where it is transposed, with the same leading dimensions.
Value multiplyMatrices(TensorMath& math, Value a, Value b, bool isTransposed = false);

/// Reduces `value` over `dims`, which keep size 1.
Value reduceKeeping(TensorMath& math, Value value, ReduceKind kind, ArrayRef<int64_t> dims);
/// Repeats dimensions of size 1 to `shape`.
Value stretch(TensorMath& math, Value value, ArrayRef<int64_t> shape);

}  // namespace mlir::sgd::torch

#endif
