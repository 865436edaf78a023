// Walks up from the mask or bias. A value with rows and columns is computed again in blocks; one with fewer is a leaf
// unless it is made of iotas and constants alone.
#include "passes/sharding/context/block_expression.h"

using namespace mlir;
using namespace mlir::sgd;

/// Ops from a mask to its leaves: what is deeper is no expression of positions.
static constexpr unsigned kMaxDepth = 32;

static bool isSplat(Operation* op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

/// Computes each element from the operands' elements at the same place.
static bool isElementwise(Operation* op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 || op->getNumOperands() == 0) return false;
  ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == shape;
  });
}

/// Dimensions of operands; nullopt where blocks cannot be computed from blocks of operands.
static std::optional<ScoreDims> getDimsOfOperands(Operation* op, const ScoreDims& dims) {
  if (isElementwise(op)) return dims;
  return getOperandDims(op, dims);
}

static bool isFree(Value value, unsigned depth = 0) {
  Operation* op = value.getDefiningOp();
  if (!op || depth > kMaxDepth) return false;
  if (isSplat(op) || isa<IotaOp>(op)) return true;
  if (!isElementwise(op) && !isa<BroadcastInDimOp, TransposeOp, ReshapeOp>(op)) return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isFree(operand, depth + 1); });
}

bool BlockExpression::add(Value value, const ScoreDims& dims) { return addPart(value, dims, 0); }

bool BlockExpression::addPart(Value value, const ScoreDims& dims, unsigned depth) {
  bool hasRows = llvm::is_contained(dims, row), hasColumns = llvm::is_contained(dims, column);
  Operation* op = value.getDefiningOp();
  if (op && (isSplat(op) || isa<IotaOp>(op))) return true;
  std::optional<ScoreDims> inner = op ? getDimsOfOperands(op, dims) : std::nullopt;
  if ((hasRows && hasColumns) || (inner && isFree(value)))
    return inner && depth <= kMaxDepth &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return addPart(operand, *inner, depth + 1); });
  LabelledValue leaf{value, dims};
  auto& leaves = hasColumns ? columnLeaves : rowLeaves;
  if (!llvm::is_contained(leaves, leaf)) leaves.push_back(leaf);
  return true;
}

static SmallVector<int64_t> withoutNone(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> labels(dims);
  llvm::erase(labels, kNone);
  return labels;
}

LabelledValue BlockExpression::write(BlockMath& math, const BlockPlace& place, Value value,
                                     const ScoreDims& dims) const {
  LabelledValue leaf{value, dims};
  auto find = [&](ArrayRef<LabelledValue> leaves, ArrayRef<LabelledValue> blocks) -> const LabelledValue* {
    const auto* found = llvm::find(leaves, leaf);
    return found == leaves.end() ? nullptr : &blocks[found - leaves.begin()];
  };
  if (const LabelledValue* block = find(rowLeaves, place.rowLeaves)) return *block;
  if (const LabelledValue* block = find(columnLeaves, place.columnLeaves)) return *block;
  return writeOp(math, place, value.getDefiningOp(), dims);
}

LabelledValue BlockExpression::writeOp(BlockMath& math, const BlockPlace& place, Operation* op,
                                       const ScoreDims& dims) const {
  OpBuilder& builder = math.getMath().getBuilder();
  SmallVector<int64_t> labels = math.getLayout().getLabels(withoutNone(dims));
  RankedTensorType type = tensorType(op->getResult(0)).clone(math.getLayout().getShape(labels));
  if (isSplat(op)) {
    auto splat = cast<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    auto elements = DenseElementsAttr::get(type, splat.getSplatValue<Attribute>());
    return {arith::ConstantOp::create(builder, math.getMath().getLoc(), elements), labels};
  }
  if (auto iota = dyn_cast<IotaOp>(op)) return writeIota(math, place, iota, dims);
  ScoreDims inner = *getDimsOfOperands(op, dims);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, math.spread(write(math, place, operand, inner), labels).value);
  if (!isElementwise(op)) return {mapping.lookup(op->getOperand(0)), labels};
  Operation* copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return {copy->getResult(0), labels};
}

LabelledValue BlockExpression::writeIota(BlockMath& math, const BlockPlace& place, IotaOp op,
                                         const ScoreDims& dims) const {
  OpBuilder& builder = math.getMath().getBuilder();
  Location loc = math.getMath().getLoc();
  SmallVector<int64_t> labels = math.getLayout().getLabels(withoutNone(dims));
  SmallVector<int64_t> shape = math.getLayout().getShape(labels);
  int64_t dim = dims[op.getDimension()];
  RankedTensorType type = tensorType(op.getResult()).clone(shape);
  if (dim == kNone)
    return {arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type))), labels};
  if (dim != row && dim != column)
    return {IotaOp::create(builder, loc, type, llvm::find(labels, dim) - labels.begin()), labels};
  Value positions = math.getPositions(dim == row ? place.rowNumbers : place.columnNumbers, dim, labels).value;
  Type element = type.getElementType();
  if (element.isInteger(32)) return {positions, labels};
  if (isa<FloatType>(element)) return {arith::SIToFPOp::create(builder, loc, type, positions), labels};
  if (element.getIntOrFloatBitWidth() > 32) return {arith::ExtSIOp::create(builder, loc, type, positions), labels};
  return {arith::TruncIOp::create(builder, loc, type, positions), labels};
}
