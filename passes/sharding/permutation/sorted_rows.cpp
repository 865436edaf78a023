// One walk over the block of the sort, and over the bodies of loops that read its rows from stacks, an iteration's at a
// time. Values that depend on the order of rows have these along one dimension, of which
// each op must compute every element from those of the same row, or sum over all. Positions in that order may be
// indices of sorted rows, and be compared where all comparisons have one result.
#include "passes/sharding/permutation/sorted_rows.h"

#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

int64_t SortedRows::getNumRows() const { return tensorType(getSortedKeys()).getNumElements(); }

/// Whether all elements along `dim` are the same.
static bool isUniform(Value value, int64_t dim) {
  Operation* op = value.getDefiningOp();
  if (!op) return false;
  if (getSplatElements(value)) return true;
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    for (auto [from, to] : llvm::enumerate(broadcast.getDims()))
      if (to == dim)
        return tensorType(broadcast.getInput()).getDimSize(from) == 1 || isUniform(broadcast.getInput(), from);
    return true;
  }
  return isElementwise(op) && op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand, dim); });
}

/// Rows along `dim` of `value` are in the sorted order, or all the same.
bool SortedRows::isOrdered(Value value, int64_t dim) const {
  const RowOrder* order = find(value);
  if (order) return order->isSorted && order->dim == dim;
  return isUniform(value, dim);
}

/// Whether summing over a factor of `op` is all that its rule means by a reduction: not a choice by indices.
static bool sumsFactors(Operation* op) { return isa<ReduceOp, DotGeneralOp, GroupedDotOp>(op); }

/// Ops that compute each shard of rows from the same shard of all operands, whatever the shards are.
bool SortedRows::visitByRule(Operation* op, bool mayReduce) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled) return false;
  ShardingRule rule = ruled.getShardingRule();
  std::optional<unsigned> factor;
  std::optional<RowOrder> rows;  // of all operands that have rows
  for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands)) {
    const RowOrder* order = find(operand);
    if (!order) continue;
    ArrayRef<unsigned> factors = mapping[order->dim];
    if (factors.size() != 1 || (factor && *factor != factors[0])) return false;
    if (rows && (rows->isSorted != order->isSorted || rows->isPosition != order->isPosition)) return false;
    factor = factors[0];
    rows = *order;
  }
  FactorKind kind = rule.factors[*factor].kind;
  if (kind != FactorKind::PassThrough && !(kind == FactorKind::Reduction && mayReduce)) return false;
  // Positions in the sorted order may be compared with iotas.
  bool areCompared = rows->isSorted && rows->isPosition;
  for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands))
    for (auto [dim, factors] : llvm::enumerate(mapping)) {
      if (!llvm::is_contained(factors, *factor)) continue;
      const RowOrder* order = find(operand);
      bool isRowwise = order ? order->dim == static_cast<int64_t>(dim)
                             : areCompared || constants.contains(operand) || isUniform(operand, dim);
      if (!isRowwise) return false;
    }
  for (auto [result, mapping] : llvm::zip(op->getResults(), rule.results)) {
    bool hasRows = false;
    for (auto [dim, factors] : llvm::enumerate(mapping)) {
      if (!llvm::is_contained(factors, *factor)) continue;
      if (factors.size() != 1 || hasRows) return false;
      hasRows = true;
      orders[result] = {static_cast<int64_t>(dim), rows->isSorted, rows->isPosition};
    }
    // A barrier's other results have rows of their own or none.
    if (!hasRows && kind == FactorKind::PassThrough && op->getNumResults() == 1) return false;
  }
  return true;
}

/// Ops on positions: other functions of these, or comparisons that have one result in any order.
bool SortedRows::visitPositions(Operation* op) {
  if (op->getNumResults() != 1 || (!op->hasTrait<OpTrait::Elementwise>() &&
                                   !isa<BroadcastInDimOp, ReshapeOp, TransposeOp, ShardingConstraintOp>(op)))
    return false;
  if (!visitByRule(op, /*mayReduce=*/false)) return false;
  Value result = op->getResult(0);
  ValueDim rows{result, orders[result].dim};
  if (!isa<arith::CmpIOp>(op)) return functions.isKnown(rows);
  std::optional<int64_t> first;
  bool isConstant = functions.forEach(rows, [&](int64_t, int64_t element) {
    if (!first) first = element;
    return *first == element;
  });
  orders.erase(result);
  constants.insert(result);
  return isConstant;
}

/// A sort of the permutation is its inverse: the first results count, those of positions say where each row is. What
/// is sorted with it is back in the order before.
bool SortedRows::visitSort(SortOp op) {
  const RowOrder* first = find(op.getInputs()[0]);
  if (!first) return false;
  if (tensorType(op.getInputs()[0]).getRank() != 1) return visitByRule(op, /*mayReduce=*/false);
  if (!first->isSorted || first->isPosition || !isAscending(op) || !functions.isIdentity({op.getInputs()[0], 0}))
    return false;
  for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults())) {
    if (const RowOrder* order = find(input)) {
      if (!order->isSorted || order->isPosition) return false;
    } else if (input.getDefiningOp<IotaOp>()) {
      functions.addIdentity(result);
      orders[result] = {0, /*isSorted=*/false, /*isPosition=*/true};
    } else if (!isUniform(input, 0)) {
      return false;
    }
  }
  sorts.push_back(op);
  return true;
}

/// The one dimension of the operand that is indexed, with slices of one element; nullopt where there are others, or
/// batching dimensions.
static std::optional<int64_t> getIndexedDim(GatherOp op) {
  if (op.getStartIndexMap().size() != 1 || !op.getOperandBatchingDims().empty()) return std::nullopt;
  int64_t dim = op.getStartIndexMap()[0];
  if (op.getCollapsedSliceDims() != ArrayRef<int64_t>(dim)) return std::nullopt;
  return dim;
}

static std::optional<int64_t> getIndexedDim(ScatterOp op) {
  if (op.getScatterDimsToOperandDims().size() != 1 || !op.getInputBatchingDims().empty()) return std::nullopt;
  int64_t dim = op.getScatterDimsToOperandDims()[0];
  if (op.getInsertedWindowDims() != ArrayRef<int64_t>(dim)) return std::nullopt;
  return dim;
}

bool SortedRows::visitGather(GatherOp op) {
  const RowOrder *input = find(op.getInput()), *indices = find(op.getIndices());
  if (!indices) return visitByRule(op, /*mayReduce=*/false);
  std::optional<int64_t> dim = getIndexedDim(op);
  ValueDim at{op.getIndices(), indices->dim};
  int64_t indicesDim = indices->dim;
  if (indicesDim == static_cast<int64_t>(op.getIndexVectorDim())) return false;
  if (!indices->isSorted) {
    // Sorted rows are put back.
    if (!dim || !input || !input->isSorted || input->isPosition || input->dim != *dim || !functions.isIdentity(at))
      return false;
    accesses.push_back({op, indicesDim, *dim});
    return true;
  }
  if (indices->isPosition) return false;
  if (!input) {
    if (!visitByRule(op, /*mayReduce=*/false)) return false;
    if (dim) accesses.push_back({op, indicesDim, *dim});
    return true;
  }
  // Positions are put into the sorted order again.
  if (!dim || input->isSorted || input->dim != *dim || !functions.isIdentity(at)) return false;
  RowOrder positions = *input;
  orders.erase(op.getInput());
  bool isRowwise = visitByRule(op, /*mayReduce=*/false);
  orders[op.getInput()] = positions;
  if (!isRowwise) return false;
  RowOrder& order = orders[op.getResult()];
  order.isPosition = true;
  functions.addAlias(op.getResult(), order.dim, {op.getInput(), positions.dim});
  accesses.push_back({op, indicesDim, *dim});
  return true;
}

/// The dimension of the updates that belongs to dimension `indicesDim` of the indices.
static int64_t getUpdatesDim(ScatterOp op, int64_t indicesDim) {
  int64_t batch = indicesDim - (static_cast<int64_t>(op.getIndexVectorDim()) < indicesDim ? 1 : 0);
  for (int64_t dim = 0;; ++dim)
    if (!llvm::is_contained(op.getUpdateWindowDims(), dim) && batch-- == 0) return dim;
}

/// A scatter of rows in the sorted order.
bool SortedRows::visitPermuted(ScatterOp op) {
  std::optional<int64_t> dim = getIndexedDim(op);
  ValueDim at{op.getIndices(), find(op.getIndices())->dim};
  ValueDim updates{op.getUpdates(), getUpdatesDim(op, at.dim)};
  const RowOrder* order = find(updates.value);
  if (!dim || find(op.getInput()) || find(op.getIndices())->isPosition) return false;
  bool isSet = op.getKind() == ScatterKind::Set;
  if (isOrdered(updates.value, updates.dim) && !(order && order->isPosition)) {
    // Of several rows at one place the last would stay.
    if (isSet) {
      DenseSet<int64_t> seen;
      if (!functions.forEach(at, [&](int64_t, int64_t element) { return seen.insert(element).second; })) return false;
    }
  } else {
    // Where each row is, if all have one.
    bool coversAll = tensorType(op.getInput()).getDimSize(*dim) == getNumRows() && functions.isIdentity(at);
    if (!isSet || !coversAll || (order && order->dim != updates.dim) || !functions.isKnown(updates)) return false;
    functions.addAlias(op.getResult(), *dim, updates);
    orders[op.getResult()] = {*dim, /*isSorted=*/false, /*isPosition=*/true};
  }
  accesses.push_back({op, at.dim, *dim});
  return true;
}

bool SortedRows::visitScatter(ScatterOp op) {
  const RowOrder* indices = find(op.getIndices());
  if (!indices) return visitByRule(op, /*mayReduce=*/false);
  if (indices->dim == static_cast<int64_t>(op.getIndexVectorDim())) return false;
  if (indices->isSorted) return visitPermuted(op);
  // Rows are put into the sorted order, at their positions.
  std::optional<int64_t> dim = getIndexedDim(op);
  int64_t indicesDim = indices->dim;
  if (!dim || find(op.getUpdates()) || !functions.isIdentity({op.getIndices(), indicesDim})) return false;
  if (!isOrdered(op.getInput(), *dim) || tensorType(op.getInput()).getDimSize(*dim) != getNumRows()) return false;
  if (const RowOrder* input = find(op.getInput()); input && input->isPosition) return false;
  orders[op.getResult()] = {*dim, /*isSorted=*/true, /*isPosition=*/false};
  accesses.push_back({op, indicesDim, *dim});
  return true;
}

/// Lets the second loop of a pair read sorted rows. Those of one body must be of one iteration of the first loop.
bool SortedRows::addReader(unsigned pair) {
  if (llvm::is_contained(readers, pair)) return true;
  WhileOp consumer = pairs[pair].getConsumer();
  if (llvm::any_of(readers, [&](unsigned other) { return LoopPair(pairs[other]).getConsumer() == consumer; }))
    return false;
  readers.push_back(pair);
  return true;
}

/// Rows that a loop keeps for another loop, which reads those of one iteration at a time.
bool SortedRows::visitStack(DynamicUpdateSliceOp op) {
  const RowOrder* order = find(op.getUpdate());
  if (!order || order->dim == 0 || find(op.getInput())) return false;
  for (auto [number, pair] : llvm::enumerate(pairs))
    for (unsigned holder : pair.getHolders(op.getUpdate())) {
      const LoopStack& stack = pair.getStacks()[holder];
      if (stack.update != op.getOperation()) continue;
      if (!addReader(number)) return false;
      RowOrder rows = *order;
      for (DynamicSliceOp read : stack.reads) {
        orders[read.getResult()] = rows;
        functions.addAlias(read.getResult(), rows.dim, {op.getUpdate(), rows.dim});
      }
      return true;
    }
  return false;
}

bool SortedRows::visit(Operation* op) {
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) return visitStack(update);
  if (auto sort = dyn_cast<SortOp>(op)) return visitSort(sort);
  if (auto gather = dyn_cast<GatherOp>(op)) return visitGather(gather);
  if (auto scatter = dyn_cast<ScatterOp>(op)) return visitScatter(scatter);
  if (!op->hasTrait<OpTrait::Elementwise>() && !isa<ShardingRuleOpInterface>(op)) return false;
  bool hasPositions = llvm::any_of(op->getOperands(), [&](Value operand) {
    const RowOrder* order = find(operand);
    return order && order->isPosition;
  });
  return hasPositions ? visitPositions(op) : visitByRule(op, sumsFactors(op));
}

bool SortedRows::visitBlock(Block& block) {
  for (Operation& op : block) {
    bool isKnown = &op == sort.getOperation() || (op.getNumResults() > 0 && find(op.getResult(0)));
    if (isKnown || llvm::none_of(op.getOperands(), [&](Value operand) { return find(operand); })) continue;
    if (!visit(&op)) return false;
  }
  return true;
}

bool SortedRows::analyze() {
  comparisons = findGroupComparisons(sort, pairs);
  sorts.push_back(sort);
  for (auto [input, result] : llvm::zip(sort.getInputs(), sort.getResults())) {
    if (input.getDefiningOp<IotaOp>()) functions.addIdentity(result);
    orders[result] = {0, /*isSorted=*/true, /*isPosition=*/false};
  }
  for (const GroupComparison& comparison : comparisons) {
    orders[arith::CmpIOp(comparison.op).getResult()] = {comparison.rowDim, /*isSorted=*/true, /*isPosition=*/false};
    if (comparison.pair && !addReader(*comparison.pair)) return false;
  }
  if (!visitBlock(*sort->getBlock())) return false;
  for (size_t next = 0; next < readers.size(); ++next)
    if (!visitBlock(pairs[readers[next]].getConsumer().getBody().front())) return false;
  return true;
}

SmallVector<RowAccess> SortedRows::getBlockedAccesses(int64_t blocks) const {
  int64_t rows = getNumRows(), rowsOfBlock = llvm::divideCeil(rows, blocks);
  auto canBeCut = [&](const RowAccess& access) {
    int64_t size = tensorType(access.op->getOperand(0)).getDimSize(access.operandDim);
    int64_t sizeOfBlock = llvm::divideCeil(size, blocks);
    ValueDim at{access.op->getOperand(1), access.indicesDim};
    if (tensorType(at.value).getDimSize(at.dim) != rows || size == 0) return false;
    return functions.forEach(at, [&](int64_t row, int64_t element) {
      return element >= 0 && element < size && element / sizeOfBlock == row / rowsOfBlock;
    });
  };
  return llvm::filter_to_vector(accesses, canBeCut);
}
