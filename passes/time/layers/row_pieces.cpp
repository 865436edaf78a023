// Pieces are computed right behind the value that they are of, so that they are there wherever it is.
#include "passes/time/layers/row_pieces.h"

#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

static RankedTensorType withSize(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

/// Ops that compute part of their result when they are given parts of their operands.
static bool isComputedInPieces(Operation* op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType())) return false;
  return op->hasTrait<MovesElements>() || isa<ReduceOp, DotGeneralOp>(op) || isElementwise(op);
}

/// The one dimension whose major factor is `factor`; nothing where it is another one's part.
static std::optional<FactorDims::Dim> findDim(const TensorMapping& mapping, unsigned factor, ArrayRef<Factor> factors) {
  FactorDims::Dim found;
  for (auto [dim, parts] : llvm::enumerate(mapping)) {
    if (!llvm::is_contained(parts, factor)) continue;
    if (parts.front() != factor || found.index >= 0) return std::nullopt;
    found.index = static_cast<int64_t>(dim);
    for (unsigned minor : ArrayRef(parts).drop_front()) found.rows *= factors[minor].size;
  }
  return found;
}

std::optional<FactorDims> mlir::sgd::findFactor(Operation* op, std::optional<unsigned> operand, int64_t dim) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || !isComputedInPieces(op)) return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  const TensorMapping& mapping = operand ? rule.operands[*operand] : rule.results[0];
  if (static_cast<size_t>(dim) >= mapping.size() || mapping[dim].empty()) return std::nullopt;
  unsigned factor = mapping[dim].front();
  FactorKind kind = rule.factors[factor].kind;
  if (kind != FactorKind::PassThrough && kind != FactorKind::Reduction) return std::nullopt;
  FactorDims dims{rule.factors[factor], {}, {}};
  for (const TensorMapping& one : rule.operands) {
    std::optional<FactorDims::Dim> found = findDim(one, factor, rule.factors);
    if (!found) return std::nullopt;
    dims.operands.push_back(*found);
  }
  std::optional<FactorDims::Dim> found = findDim(rule.results[0], factor, rule.factors);
  if (!found || (found->index < 0) != (kind == FactorKind::Reduction)) return std::nullopt;
  dims.result = *found;
  return dims;
}

RowRanges mlir::sgd::multiply(const RowRanges& ranges, int64_t rows) {
  RowRanges scaled = ranges;
  for (RowRange& range : scaled) range = {range.first * rows, range.count * rows, range.stage};
  return scaled;
}

std::optional<RowRanges> mlir::sgd::divide(const RowRanges& ranges, int64_t rows) {
  RowRanges scaled = ranges;
  for (RowRange& range : scaled) {
    if (range.first % rows != 0 || range.count % rows != 0) return std::nullopt;
    range = {range.first / rows, range.count / rows, range.stage};
  }
  return scaled;
}

const RowPieces::Cut* RowPieces::find(Value value) const {
  auto found = cuts.find(value);
  return found == cuts.end() ? nullptr : &found->second;
}

void RowPieces::set(Value value, Cut cut) { cuts[value] = std::move(cut); }

SmallVector<Value> RowPieces::get(Value value, const RowRanges& ranges, int64_t dim) {
  const Cut* known = find(value);
  if (known && known->dim == dim && known->ranges == ranges) return known->pieces;
  if (known) return slice(value, ranges, dim);
  Cut cut = compute(value, ranges, dim);
  set(value, cut);
  return cut.pieces;
}

RowPieces::Cut RowPieces::compute(Value value, const RowRanges& ranges, int64_t dim) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (dim == 0 && mayCut(argument)) return {ranges, dim, cutArgument(argument, ranges)};
  if (SplatElementsAttr splat = getSplatElements(value)) return {ranges, dim, fill(value, splat, ranges, dim)};
  Operation* op = value.getDefiningOp();
  if (std::optional<FactorDims> dims = op ? findFactor(op, std::nullopt, dim) : std::nullopt) {
    bool isCut = llvm::any_of(op->getOperands(), [&](Value operand) { return find(operand); });
    std::optional<RowRanges> own = divide(ranges, dims->result.rows);
    if (own && (isCut || !isa<ReduceOp, DotGeneralOp>(op))) return {ranges, dim, computeOp(op, *dims, *own)};
  }
  return {ranges, dim, slice(value, ranges, dim), /*isSliced=*/true};
}

SmallVector<Value> RowPieces::fill(Value value, SplatElementsAttr splat, const RowRanges& ranges, int64_t dim) {
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfterValue(value);
  return llvm::map_to_vector(ranges, [&](const RowRange& range) -> Value {
    auto type = withSize(tensorType(value), dim, range.count);
    auto elements = DenseElementsAttr::get(type, splat.getSplatValue<Attribute>());
    return arith::ConstantOp::create(builder, value.getLoc(), elements);
  });
}

SmallVector<Value> RowPieces::cutArgument(BlockArgument argument, const RowRanges& ranges) {
  SmallVector<Value> pieces;
  for (const RowRange& range : ranges)
    pieces.push_back(function.front().addArgument(withSize(tensorType(argument), 0, range.count), argument.getLoc()));
  arguments.push_back(argument);
  return pieces;
}

SmallVector<Value> RowPieces::slice(Value value, const RowRanges& ranges, int64_t dim) {
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfterValue(value);
  RankedTensorType type = tensorType(value);
  return llvm::map_to_vector(ranges, [&](const RowRange& range) -> Value {
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
    starts[dim] = range.first;
    limits[dim] = range.first + range.count;
    return SliceOp::create(builder, value.getLoc(), withSize(type, dim, range.count), value, starts, limits, strides);
  });
}

Value RowPieces::computePiece(OpBuilder& builder, Operation* op, const FactorDims& dims, int64_t count,
                              ValueRange operands) {
  Operation* own = builder.clone(*op);
  own->setOperands(operands);
  if (dims.result.index < 0) return own->getResult(0);
  const int64_t size = count * dims.result.rows;
  own->getResult(0).setType(withSize(tensorType(op->getResult(0)), dims.result.index, size));
  if (auto slice = dyn_cast<SliceOp>(own)) {
    SmallVector<int64_t> limits(slice.getLimits());
    limits[dims.result.index] = size;
    slice.setLimits(limits);
  }
  return own->getResult(0);
}

SmallVector<Value> RowPieces::computeOp(Operation* op, const FactorDims& dims, const RowRanges& ranges) {
  SmallVector<SmallVector<Value>> operands;  // by operand and piece
  for (auto [operand, dim] : llvm::zip(op->getOperands(), dims.operands))
    operands.push_back(dim.index < 0 ? SmallVector<Value>(ranges.size(), operand)
                                     : get(operand, multiply(ranges, dim.rows), dim.index));
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfter(op);
  SmallVector<Value> pieces;
  for (auto [index, range] : llvm::enumerate(ranges)) {
    SmallVector<Value> own;
    for (const SmallVector<Value>& all : operands) own.push_back(all[index]);
    pieces.push_back(computePiece(builder, op, dims, range.count, own));
  }
  return pieces;
}

/// A sum over all rows is one of each piece, which are added up.
void RowPieces::combine(Operation* op, const FactorDims& dims, const RowRanges& ranges) {
  SmallVector<Value> partial = computeOp(op, dims, ranges);
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfterValue(partial.back());
  RankedTensorType type = tensorType(op->getResult(0));
  Type element = type.getElementType();
  Value whole = partial.front();
  if (dims.factor.reduceKind == ReduceKind::Add && !element.isInteger(1)) {
    for (Value more : ArrayRef(partial).drop_front())
      whole = isa<FloatType>(element) ? arith::AddFOp::create(builder, op->getLoc(), whole, more).getResult()
                                      : arith::AddIOp::create(builder, op->getLoc(), whole, more).getResult();
  } else {
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, type.getShape());
    auto row = RankedTensorType::get(shape, element);
    for (Value& one : partial) one = ReshapeOp::create(builder, op->getLoc(), row, one);
    auto rows = withSize(row, 0, static_cast<int64_t>(partial.size()));
    Value all = ConcatenateOp::create(builder, op->getLoc(), rows, partial, /*dimension=*/0);
    whole = ReduceOp::create(builder, op->getLoc(), type, all, dims.factor.reduceKind, ArrayRef<int64_t>{0});
  }
  op->getResult(0).replaceAllUsesWith(whole);
}

/// Some rows, each of them of one piece.
bool RowPieces::visitSlice(SliceOp op, const Cut& cut) {
  int64_t start = op.getStarts()[cut.dim], limit = op.getLimits()[cut.dim];
  if (op.getStrides()[cut.dim] != 1) return false;
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfter(op);
  SmallVector<Value> parts;
  for (auto [range, piece] : llvm::zip(cut.ranges, cut.pieces)) {
    int64_t from = std::max(start, range.first), to = std::min(limit, range.first + range.count);
    if (from >= to) continue;
    SmallVector<int64_t> starts(op.getStarts()), limits(op.getLimits());
    starts[cut.dim] = from - range.first;
    limits[cut.dim] = to - range.first;
    auto type = withSize(tensorType(op.getResult()), cut.dim, to - from);
    parts.push_back(SliceOp::create(builder, op.getLoc(), type, piece, starts, limits, op.getStrides()));
  }
  if (parts.empty()) return false;
  Value whole = parts.front();
  if (parts.size() > 1) whole = ConcatenateOp::create(builder, op.getLoc(), op.getType(), parts, cut.dim);
  op.getResult().replaceAllUsesWith(whole);
  return true;
}

/// One for each piece, so that a stage waits for nothing of others.
void RowPieces::visitBarrier(Operation* op, const Cut& cut) {
  SmallVector<unsigned> own;
  for (OpOperand& operand : op->getOpOperands())
    if (const Cut* of = find(operand.get()); of && of->dim == cut.dim && of->ranges == cut.ranges)
      own.push_back(operand.getOperandNumber());
  OpBuilder builder = getBuilder();
  builder.setInsertionPointAfter(op);
  SmallVector<SmallVector<Value>> pieces(own.size());
  for (size_t piece = 0; piece < cut.ranges.size(); ++piece) {
    SmallVector<Value> operands;
    for (unsigned index : own) operands.push_back(find(op->getOperand(index))->pieces[piece]);
    auto barrier = OptimizationBarrierOp::create(builder, op->getLoc(), ValueRange(operands).getTypes(), operands);
    for (auto [all, result] : llvm::zip(pieces, barrier->getResults())) all.push_back(result);
  }
  for (auto [index, all] : llvm::zip(own, pieces)) set(op->getResult(index), {cut.ranges, cut.dim, all});
  SmallVector<Value> others, results;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!llvm::is_contained(own, index)) others.push_back(operand), results.push_back(op->getResult(index));
  if (!others.empty()) {
    auto barrier = OptimizationBarrierOp::create(builder, op->getLoc(), ValueRange(others).getTypes(), others);
    for (auto [before, after] : llvm::zip(results, barrier->getResults())) before.replaceAllUsesWith(after);
  }
  retire(op);
}

void RowPieces::visit(Operation* op) {
  for (OpOperand& operand : op->getOpOperands()) {
    const Cut* found = find(operand.get());
    if (!found) continue;
    const Cut cut = *found;
    if (isa<OptimizationBarrierOp>(op)) return visitBarrier(op, cut);
    if (auto slice = dyn_cast<SliceOp>(op))
      if (tensorType(slice.getResult()).getDimSize(cut.dim) != tensorType(slice.getInput()).getDimSize(cut.dim) &&
          visitSlice(slice, cut))
        return;
    std::optional<FactorDims> dims = findFactor(op, operand.getOperandNumber(), cut.dim);
    std::optional<RowRanges> ranges =
        dims ? divide(cut.ranges, dims->operands[operand.getOperandNumber()].rows) : std::nullopt;
    if (!ranges) continue;
    if (dims->result.index < 0) return combine(op, *dims, *ranges);
    if (find(op->getResult(0))) return;
    SmallVector<Value> pieces = computeOp(op, *dims, *ranges);
    set(op->getResult(0), {multiply(*ranges, dims->result.rows), dims->result.index, pieces});
    return;
  }
}

void RowPieces::replaceByWhole(Value value) {
  const Cut cut = *find(value);
  OpBuilder builder = getBuilder();
  // Behind the last piece, all of which are behind the value, or the arguments of the block.
  Operation* last = nullptr;
  for (Value piece : cut.pieces)
    if (Operation* op = piece.getDefiningOp())
      if (!last || last->isBeforeInBlock(op)) last = op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&function.front());
  Value whole = ConcatenateOp::create(builder, value.getLoc(), value.getType(), cut.pieces, cut.dim);
  value.replaceUsesWithIf(whole, [&](OpOperand& use) { return use.getOwner() != whole.getDefiningOp(); });
}

static SmallVector<Operation*> getOpsBackwards(Block& block) {
  SmallVector<Operation*> ops;
  for (Operation& op : block.without_terminator()) ops.push_back(&op);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// From the last op to the first, so that what is read by wholes alone that were replaced is unread. Pieces stay until
/// the end: wholes are made of them.
void RowPieces::finish() {
  Block& block = function.front();
  for (Operation* op : getOpsBackwards(block)) {
    if (created.contains(op)) continue;
    if (!isOpTriviallyDead(op))
      for (Value result : op->getResults())
        if (const Cut* cut = find(result); cut && !cut->isSliced && !result.use_empty()) replaceByWhole(result);
    if (isOpTriviallyDead(op) || (retired.contains(op) && op->use_empty())) op->erase();
  }
  for (BlockArgument argument : arguments)
    if (!argument.use_empty()) replaceByWhole(argument);
  for (Operation* op : getOpsBackwards(block))
    if (isOpTriviallyDead(op)) op->erase();
  cuts.clear();
  created.clear();
  retired.clear();
}
