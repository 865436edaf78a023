// Tensors from numbers alone.
#include <cmath>

#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

LogicalResult lowerZero(AtenOp& op) { return op.finish(op.splat(0)); }
LogicalResult lowerOne(AtenOp& op) { return op.finish(op.splat(1)); }
LogicalResult lowerFull(AtenOp& op) { return op.finish(op.operand("fill_value", op.type())); }
LogicalResult lowerScalar(AtenOp& op) { return op.finish(op.operand("s", op.type())); }

LogicalResult lowerArange(AtenOp& op) {
  Value counted = op.count(op.type(), 0);
  if (op.number("step", 1) != 1) counted = op.math.multiply(counted, op.operand("step", op.type()));
  return op.finish(op.number("start", 0) == 0 ? counted : op.math.add(counted, op.operand("start", op.type())));
}

/// `numbers` as a constant of the result's type.
LogicalResult finishNumbers(AtenOp& op, ArrayRef<double> numbers) {
  if (auto element = dyn_cast<FloatType>(op.element()))
    return op.finish(op.math.reshape(op.vector(numbers, element), op.type().getShape()));
  SmallVector<int64_t> whole;
  for (double number : numbers) whole.push_back(static_cast<int64_t>(number));
  return op.finish(op.convert(op.vector(whole), op.element()));
}

/// Between ends that are tensors; integers are computed in f64.
LogicalResult spaceTensors(AtenOp& op, bool isLogarithmic) {
  TensorMath& math = op.math;
  int64_t steps = op.type().getRank() == 1 ? op.type().getDimSize(0) : 0;
  bool isFloat = isa<FloatType>(op.element());
  RankedTensorType type = isFloat && op.element().getIntOrFloatBitWidth() >= 32
                              ? op.type()
                              : op.type().clone(math.getBuilder().getF64Type());
  auto getEnd = [&](StringRef name) { return op.convert(op.operand(name, op.type()), type.getElementType()); };
  Value start = getEnd("start"), end = getEnd("end");
  Value step =
      math.divide(math.subtract(end, start), math.splat(type, static_cast<double>(std::max<int64_t>(steps - 1, 1))));
  Value at = op.count(type, 0), rest = math.subtract(math.splat(type, static_cast<double>(steps - 1)), at);
  Value isNear = math.isLess(at, math.splat(type, static_cast<double>(steps / 2)));
  if (steps == 1) isNear = math.isEqual(at, at);
  Value number =
      math.select(isNear, math.add(start, math.multiply(step, at)), math.subtract(end, math.multiply(step, rest)));
  if (isLogarithmic) number = math.create<math::PowFOp>(math.splat(type, op.number("base", 10)), number);
  if (isLogarithmic && !isFloat) {
    // Powers are cut to integers, so that those that are whole must not be a rounding below.
    Value whole = math.create<math::RoundEvenOp>(number), distance = math.absolute(math.subtract(number, whole));
    Value isWhole = math.isLess(distance, math.multiply(math.absolute(whole), math.splat(type, 1e-13)));
    number = math.select(isWhole, whole, number);
  }
  return op.finish(op.convert(number, op.element()));
}

/// Equal steps from the nearer end; powers of `base` in a logspace.
template <bool isLogarithmic>
LogicalResult lowerLinspace(AtenOp& op) {
  constexpr int64_t kMost = 1 << 20;
  int64_t steps = op.integer("steps", 1);
  if (op.tensor("start") || op.tensor("end")) return spaceTensors(op, isLogarithmic);
  if (steps < 0 || steps > kMost)
    return op.error() << "has " << steps << " steps; expected at most " << kMost << "; use arange";
  bool isFloat = isa<FloatType>(op.element());
  auto getEnd = [&](StringRef name) { return isFloat ? op.number(name, 0) : std::trunc(op.number(name, 0)); };
  double start = getEnd("start"), end = getEnd("end"), base = op.number("base", 10);
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  SmallVector<double> numbers;
  for (int64_t at = 0; at < steps; ++at) {
    double number = at < steps / 2 || steps == 1 ? start + step * static_cast<double>(at)
                                                 : end - step * static_cast<double>(steps - at - 1);
    numbers.push_back(isLogarithmic ? std::pow(base, number) : number);
  }
  return finishNumbers(op, numbers);
}

/// Ones on the diagonal.
LogicalResult lowerEye(AtenOp& op) {
  ArrayRef<int64_t> shape = op.type().getShape();
  return op.finish(op.convert(op.math.isEqual(op.math.iota(shape, 0), op.math.iota(shape, 1)), op.element()));
}

/// Rows, then columns, of the lower triangle up to diagonal `offset`, or of the upper one from it on.
template <bool isLower>
LogicalResult lowerTriangleIndices(AtenOp& op) {
  int64_t rows = op.integer("row", 0), columns = op.integer("col", 0), offset = op.integer("offset", 0);
  int64_t count = op.type().getRank() == 2 ? op.type().getDimSize(1) : 0;
  SmallVector<int64_t> indices[2];
  constexpr int64_t kMost = 1 << 24;
  if (rows < 0 || columns < 0 || rows > kMost || columns > kMost || rows * columns > kMost)
    return op.error() << "has " << rows << " by " << columns << " elements; expected at most " << kMost
                      << "; use tril or triu";
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (isLower ? column - row <= offset : column - row >= offset)
        indices[0].push_back(row), indices[1].push_back(column);
  if (static_cast<int64_t>(indices[0].size()) != count)
    return op.error() << "has a result that does not fit; export the model anew";
  indices[0].append(indices[1]);
  return op.finish(op.convert(op.math.reshape(op.vector(indices[0]), op.type().getShape()), op.element()));
}

}  // namespace

void mlir::sgd::torch::addCreationOps(OpTable& table) {
  enter(table, {"zeros.default", "zeros_like.default", "zero.default", "new_zeros.default"}, {lowerZero, {}});
  // Elements of no particular value.
  enter(table,
        {"empty.memory_format", "empty_like.default", "new_empty.default", "empty_strided.default",
         "new_empty_strided.default"},
        {lowerZero, {}});
  enter(table, {"ones.default", "ones_like.default", "new_ones.default"}, {lowerOne, {}});
  enter(table, {"full.default", "full_like.default", "new_full.default"}, {lowerFull, {}});
  enter(table, {"scalar_tensor.default"}, {lowerScalar, {}});
  enter(table, {"arange.default", "arange.start", "arange.start_step"}, {lowerArange, {}});
  enter(table, {"linspace.default", "linspace.Tensor_Tensor", "linspace.Tensor_Scalar", "linspace.Scalar_Tensor"},
        {lowerLinspace<false>, {}});
  enter(table, {"logspace.default", "logspace.Tensor_Tensor", "logspace.Tensor_Scalar", "logspace.Scalar_Tensor"},
        {lowerLinspace<true>, {}});
  enter(table, {"eye.default", "eye.m"}, {lowerEye, {}});
  enter(table, {"tril_indices.default"}, {lowerTriangleIndices<true>, {}});
  enter(table, {"triu_indices.default"}, {lowerTriangleIndices<false>, {}});
}
