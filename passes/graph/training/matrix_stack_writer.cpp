// A stack is flat, so that matrices and transposes share it; whether a slot is tall is a constant by slot.
#include "passes/graph/training/matrix_stack_writer.h"

#include <algorithm>
#include <tuple>

#include "dialects/sgd/tensor_parts.h"

using namespace mlir;
using namespace mlir::sgd;

/// Products of the last two dimensions of `lhs` and `rhs`, of which dimensions `a` and `b` (0 or 1) are contracted.
static Value multiplyMatrices(TensorMath& math, Value lhs, Value rhs, int64_t a, int64_t b) {
  int64_t batch = tensorType(lhs).getRank() - 2;
  if (batch == 0) return math.dot(lhs, rhs, a, b);
  SmallVector<int64_t> first = {0}, ofLhs = {batch + a}, ofRhs = {batch + b};
  SmallVector<int64_t> shape = {shapeOf(lhs)[0], shapeOf(lhs)[batch + 1 - a], shapeOf(rhs)[batch + 1 - b]};
  return math.create<DotGeneralOp>(tensorType(lhs).clone(shape), lhs, rhs, first, first, ofLhs, ofRhs, /*tf32=*/false);
}

static Value swapSides(TensorMath& math, Value matrix) {
  return tensorType(matrix).getRank() == 2 ? math.transpose(matrix, {1, 0}) : math.transpose(matrix, {0, 2, 1});
}

/// Divides each matrix by its Frobenius norm.
static Value normalize(TensorMath& math, Value matrix) {
  constexpr double kLeastNorm = 1e-7;
  int64_t batch = tensorType(matrix).getRank() - 2;
  Value squares = math.reduce(math.multiply(matrix, matrix), ReduceKind::Add, {batch, batch + 1});
  Value norm = math.maximum(math.create<math::SqrtOp>(squares), math.splat(kLeastNorm, squares));
  return math.divide(matrix, math.broadcast(norm, llvm::to_vector(llvm::seq<int64_t>(0, batch)), shapeOf(matrix)));
}

static constexpr int kSteps = 5;

Value mlir::sgd::orthogonalize(TensorMath& math, Value matrix) {
  constexpr double kA = 3.4445, kB = -4.775, kC = 2.0315;
  auto times = [&](Value value, double factor) { return math.multiply(value, math.splat(factor, value)); };
  ArrayRef<int64_t> sides = tensorType(matrix).getShape().take_back(2);
  bool isTall = sides[0] > sides[1];
  Value x = normalize(math, isTall ? swapSides(math, matrix) : matrix);
  for (int step = 0; step < kSteps; ++step) {
    Value gram = multiplyMatrices(math, x, x, 1, 1);
    Value polynomial = math.add(times(gram, kB), times(multiplyMatrices(math, gram, gram, 1, 0), kC));
    x = math.add(times(x, kA), multiplyMatrices(math, polynomial, x, 1, 0));
  }
  return isTall ? swapSides(math, x) : x;
}

ArrayAttr mlir::sgd::getAxesByDim(MLIRContext* context, const MatrixRanks& ranks, ArrayRef<AxisPart> first,
                                  ArrayRef<AxisPart> second) {
  SmallVector<Attribute> dims;
  for (ArrayRef<AxisPart> parts : {first, second}) {
    SmallVector<Attribute> refs;
    for (const AxisPart& part : parts) {
      const auto* whole = llvm::find_if(ranks.parts, [&](const AxisPart& axis) { return axis.axis == part.axis; });
      StringRef name = ranks.axes[whole - ranks.parts.begin()];
      refs.push_back(part == *whole ? AxisRefAttr::get(context, name)
                                    : AxisRefAttr::get(context, name, part.begin, part.size));
    }
    dims.push_back(ArrayAttr::get(context, refs));
  }
  return ArrayAttr::get(context, dims);
}

ArrayAttr mlir::sgd::getStackAxes(MLIRContext* context, const MatrixRanks& ranks, int64_t owners) {
  auto [slots, rows] = *splitOwners(ranks.parts, owners);
  return getAxesByDim(context, ranks, slots, rows);
}

/// Asks for shardings of `value`, the result of an op.
static void shard(TensorMath& math, Value value, ArrayRef<Attribute> shardings) {
  value.getDefiningOp()->setAttr(kAxesAttr, math.getBuilder().getArrayAttr(shardings));
}

/// Seconds of the iteration on a rank that has one of `shares` of the longer side.
static double getStepSeconds(const CostModel& cost, double shortSide, double longSide, double shares) {
  Work work;
  work.add(OperationKind::Matmul, Precision::Single, 2 * shortSide * shortSide * (2 * longSide / shares + shortSide));
  return kSteps * cost.getSeconds(work);
}

/// Whether ranks that share the longer side are faster. Then each step adds up its products; the direction is sent to
/// these shards, and the result from them. Otherwise the direction is gathered, where it is sharded.
static bool sharesLongSide(const MatrixRanks& ranks, int64_t shortSide, int64_t longSide) {
  const CostModel& cost = *ranks.cost;
  auto getSeconds = [&](CollectiveKind kind, int64_t elements) {
    return cost.getCollectiveSeconds(kind, ranks.parts, elements * 4);
  };
  auto shares = static_cast<double>(ranks.size);
  double whole = getStepSeconds(cost, shortSide, longSide, 1);
  double shared = getStepSeconds(cost, shortSide, longSide, shares) +
                  kSteps * getSeconds(CollectiveKind::kAllReduce, shortSide * shortSide);
  int64_t elements = shortSide * longSide;
  if (ranks.shardsState) {
    whole += getSeconds(CollectiveKind::kAllGather, elements);
    shared += getSeconds(CollectiveKind::kAllToAll, elements / ranks.size);
  }
  shared += ranks.shardsParameters ? getSeconds(CollectiveKind::kAllToAll, elements / ranks.size)
                                   : getSeconds(CollectiveKind::kAllGather, elements);
  return shared < whole;
}

Value mlir::sgd::orthogonalizeTogether(TensorMath& math, Value matrix, const MatrixRanks& ranks) {
  if (ranks.size < 2 || tensorType(matrix).getNumElements() == 0) return orthogonalize(math, matrix);
  auto [rows, columns] = std::pair(shapeOf(matrix)[0], shapeOf(matrix)[1]);
  bool isTall = rows > columns, isShared = sharesLongSide(ranks, std::min(rows, columns), std::max(rows, columns));
  if (!isShared && !ranks.shardsState) return orthogonalize(math, matrix);
  AxisParts axes = isShared ? ranks.parts : AxisParts(), none;
  ArrayAttr sharding = getAxesByDim(matrix.getContext(), ranks, isTall ? axes : none, isTall ? none : axes);
  // An op of its own: the next momentum stays as it is.
  Value direction = math.create<ReshapeOp>(matrix.getType(), matrix);
  shard(math, direction, sharding);
  Value orthogonal = orthogonalize(math, direction);
  shard(math, orthogonal, sharding);
  return orthogonal;
}

MatrixStackWriter::MatrixStackWriter(TensorMath& math, const MatrixRanks& ranks, ArrayRef<SmallVector<int64_t>> shapes,
                                     int64_t slots, int64_t owners)
    : math(math), ranks(ranks), shapes(shapes), slots(slots), owners(owners) {
  std::tie(shortSide, longSide) = std::minmax(shapes.front()[0], shapes.front()[1]);
  elements = shortSide * longSide;
}

RankedTensorType MatrixStackWriter::getType(Type element) const {
  return RankedTensorType::get({slots, elements}, element);
}

Value MatrixStackWriter::join(ArrayRef<Value> matrices) {
  SmallVector<Value> rows;
  for (Value matrix : matrices) rows.push_back(math.reshape(matrix, {1, elements}));
  auto empty = slots - static_cast<int64_t>(rows.size());
  if (empty > 0) rows.push_back(math.splat(tensorType(rows.front()).clone({empty, elements}), 0.0));
  Value stack = math.concatenate(rows, 0);
  // Whole first: gradients are joined before they are reduced (sgd-place-reductions), then sent to the matrices' ranks.
  MLIRContext* context = stack.getContext();
  shard(math, stack, {getAxesByDim(context, ranks, {}, {}), getStackAxes(context, ranks, owners)});
  return stack;
}

/// Of two values with a matrix of a slot each, the one that fits the slot's shape.
Value MatrixStackWriter::chooseByShape(Value tall, Value wide) {
  SmallVector<bool> isTallSlot(slots, false);
  for (size_t slot = 0; slot < shapes.size(); ++slot) isTallSlot[slot] = isTall(slot);
  OpBuilder& builder = math.getBuilder();
  auto type = RankedTensorType::get({slots}, builder.getI1Type());
  Value mask = math.create<arith::ConstantOp>(DenseElementsAttr::get(type, isTallSlot));
  return math.select(math.broadcast(mask, {0}, shapeOf(tall)), tall, wide);
}

SmallVector<Value> MatrixStackWriter::split(Value stack) {
  SmallVector<Value> matrices;
  for (auto [slot, shape] : llvm::enumerate(shapes)) {
    auto begin = static_cast<int64_t>(slot);
    matrices.push_back(math.reshape(math.slice(stack, {begin, 0}, {begin + 1, elements}), shape));
  }
  return matrices;
}

SmallVector<Value> MatrixStackWriter::distribute(Value stack) {
  if (!ranks.shardsParameters) return gather(stack);
  shard(math, stack, getAxesByDim(stack.getContext(), ranks, {}, ranks.parts));
  return split(stack);
}

SmallVector<Value> MatrixStackWriter::gather(Value stack) {
  shard(math, stack, getAxesByDim(stack.getContext(), ranks, {}, {}));
  return split(stack);
}

Value MatrixStackWriter::orthogonalize(Value stack) {
  auto isTallSlot = [&](size_t slot) { return isTall(slot); };
  auto all = llvm::seq<size_t>(0, shapes.size());
  bool hasTall = llvm::any_of(all, isTallSlot), hasWide = !llvm::all_of(all, isTallSlot);
  auto asTall = [&](Value flat) { return swapSides(math, math.reshape(flat, {slots, longSide, shortSide})); };
  auto asWide = [&](Value flat) { return math.reshape(flat, {slots, shortSide, longSide}); };
  Value flat = math.convert(stack, math.getBuilder().getF32Type());
  // A matrix is whole while it is orthogonalized.
  auto [ofOwners, together] = *splitOwners(ranks.parts, owners);
  ArrayAttr whole = getAxesByDim(stack.getContext(), ranks, ofOwners, {});
  if (!together.empty()) shard(math, flat = math.create<ReshapeOp>(flat.getType(), flat), whole);
  Value matrices = hasTall ? asTall(flat) : asWide(flat);
  if (hasTall && hasWide) matrices = chooseByShape(matrices, asWide(flat));
  Value orthogonal = sgd::orthogonalize(math, matrices);
  Value wide = math.reshape(orthogonal, {slots, elements});
  Value tall = hasTall ? math.reshape(swapSides(math, orthogonal), {slots, elements}) : Value();
  Value result = !hasTall ? wide : !hasWide ? tall : chooseByShape(tall, wide);
  if (!together.empty()) shard(math, result, {whole, getStackAxes(stack.getContext(), ranks, owners)});
  return math.convert(result, tensorType(stack).getElementType());
}

Value MatrixStackWriter::scale(Value stack, ArrayRef<double> factors) {
  if (llvm::all_equal(factors)) return math.multiply(stack, math.splat(tensorType(stack), factors.front()));
  SmallVector<float> bySlot(factors.begin(), factors.end());
  bySlot.resize(slots, 0);
  OpBuilder& builder = math.getBuilder();
  auto type = RankedTensorType::get({slots}, builder.getF32Type());
  Value column = math.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef<float>(bySlot)));
  column = math.convert(column, tensorType(stack).getElementType());
  return math.multiply(stack, math.broadcast(column, {0}, shapeOf(stack)));
}
