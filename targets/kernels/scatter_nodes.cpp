// Scatter: as a pointwise op where each element meets one update, else as loops over the updates.
#include "dialects/sgd/tensor_type.h"
#include "targets/kernels/node_builder.h"
#include "targets/kernels/scatter_shape.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

ScatterShape::ScatterShape(ScatterOp op) {
  auto input = tensorType(op.getInput()), indices = tensorType(op.getIndices()), updates = tensorType(op.getUpdates());
  SmallVector<int64_t> inputStrides = getRowMajorStrides(input.getShape()),
                       strides = getRowMajorStrides(indices.getShape());
  int64_t vectorDim = op.getIndexVectorDim();
  updateSizes.assign(updates.getShape().begin(), updates.getShape().end());
  updateStrides = getRowMajorStrides(updates.getShape());
  indexStrides.assign(updates.getRank(), 0);
  isFree.assign(updates.getRank(), false);
  componentStride = vectorDim < indices.getRank() ? strides[vectorDim] : 0;
  SmallVector<int64_t> updateDimOf(indices.getRank(), -1);
  int64_t batch = 0;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim) {
    if (llvm::is_contained(op.getUpdateWindowDims(), dim)) continue;
    int64_t indexDim = batch + (batch >= vectorDim ? 1 : 0);
    ++batch;
    indexStrides[dim] = strides[indexDim];
    updateDimOf[indexDim] = dim;
    isFree[dim] = !llvm::is_contained(op.getIndicesBatchingDims(), indexDim);
    if (isFree[dim]) freeUpdates *= updateSizes[dim];
  }
  unsigned window = 0;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    OperandDim entry{input.getDimSize(dim), inputStrides[dim]};
    auto batching = llvm::find(op.getInputBatchingDims(), dim);
    if (batching != op.getInputBatchingDims().end()) {
      entry.isBatching = true;
      entry.updateDim = updateDimOf[op.getIndicesBatchingDims()[batching - op.getInputBatchingDims().begin()]];
    } else if (!llvm::is_contained(op.getInsertedWindowDims(), dim)) {
      entry.updateDim = op.getUpdateWindowDims()[window++];
      entry.window = updateSizes[entry.updateDim];
    }
    auto component = llvm::find(op.getScatterDimsToOperandDims(), dim);
    if (component != op.getScatterDimsToOperandDims().end())
      entry.component = component - op.getScatterDimsToOperandDims().begin();
    operand.push_back(entry);
  }
}

/// The start of the window along `dim`, at least -1 and at most its size; both of these are outside.
FailureOr<IndexExpr> NodeBuilder::scatterStart(ScatterOp op, const ScatterShape& shape,
                                               const ScatterShape::OperandDim& dim, const IndexExpr& indexBase,
                                               unsigned guard) {
  if (dim.component < 0) return IndexExpr(0);
  FailureOr<unsigned> start =
      build(op.getIndices(), indexBase + IndexExpr(dim.component * shape.componentStride), guard);
  if (failed(start)) return failure();
  Node node{NodeKind::Clamp};
  node.operands.push_back(*start);
  node.low = op.getUnsignedIndices() ? 0 : -1;
  node.high = dim.size + 1;
  node.isUnsigned = op.getUnsignedIndices();
  return opaque(node, node.high - node.low) + IndexExpr(node.low);
}

FailureOr<unsigned> NodeBuilder::buildScatter(ScatterOp op, const IndexExpr& index, unsigned guard) {
  ScatterShape shape(op);
  FailureOr<unsigned> before = build(op.getInput(), index, guard);
  if (failed(before) || tensorType(op.getUpdates()).getNumElements() == 0) return before;
  if (shape.freeUpdates != 1) return op.emitOpError("must be alone in its kernel, since several updates meet");
  SmallVector<int64_t> sizes;
  for (const auto& dim : shape.operand) sizes.push_back(dim.size);
  SmallVector<IndexExpr> positions = delinearize(index, sizes);
  IndexExpr indexBase, updateIndex;
  for (auto [dim, position] : llvm::zip(shape.operand, positions))
    if (dim.isBatching)
      indexBase = indexBase + position * shape.indexStrides[dim.updateDim],
      updateIndex = updateIndex + position * shape.updateStrides[dim.updateDim];
  unsigned inside = kNone;
  for (auto [dim, position] : llvm::zip(shape.operand, positions)) {
    if (dim.isBatching) continue;
    FailureOr<IndexExpr> start = scatterStart(op, shape, dim, indexBase, guard);
    if (failed(start)) return failure();
    IndexExpr inWindow = position + *start * -1;
    inside = both(inside, both(inRange(*start, 0, dim.size - dim.window + 1), inRange(inWindow, 0, dim.window)));
    if (dim.updateDim >= 0) updateIndex = updateIndex + inWindow * shape.updateStrides[dim.updateDim];
  }
  FailureOr<unsigned> update = build(op.getUpdates(), updateIndex, both(guard, inside));
  if (failed(update)) return failure();
  Node combined{NodeKind::Combine, plan.nodes[*before].type};
  combined.op = op;
  combined.operands = {*before, *update};
  return select(inside, op.getKind() == ScatterKind::Set ? *update : addNode(combined), *before);
}

LogicalResult NodeBuilder::buildScatterLoops(ScatterOp op) {
  ScatterShape shape(op);
  ScatterLoops loops;
  loops.op = op;
  IndexExpr fixed, init, indexBase, updateIndex;
  SmallVector<IndexExpr> updatePositions(shape.updateSizes.size());
  // Parallel: what no index moves. The last fixed dimension has the lanes when it is the operand's innermost.
  for (const auto& dim : shape.operand) {
    IndexExpr position = IndexExpr::variable(plan.space.add(dim.size));
    unsigned var = position.getTerms()[0].var;
    if (dim.isBatching || dim.isFixed()) {
      plan.parallelVars.push_back(var);
      fixed = fixed + position * dim.stride;
      updatePositions[dim.updateDim] = position;
      if (dim.isFixed() && &dim == &shape.operand.back() && dim.size > 1) plan.laneVar = var;
    } else {
      loops.initVars.push_back(var);
      init = init + position * dim.stride;
    }
  }
  for (auto [dim, size] : llvm::enumerate(shape.updateSizes)) {
    if (!updatePositions[dim].getTerms().empty()) continue;
    loops.updateVars.push_back(plan.space.add(size));
    updatePositions[dim] = IndexExpr::variable(loops.updateVars.back());
  }
  plan.rowVars.append(loops.initVars);
  plan.rowVars.append(loops.updateVars);
  for (auto [dim, position] : llvm::enumerate(updatePositions)) {
    indexBase = indexBase + position * shape.indexStrides[dim];
    updateIndex = updateIndex + position * shape.updateStrides[dim];
  }
  loops.initIndex = fixed + init;
  loops.target = loops.fallback = fixed;
  for (const auto& dim : shape.operand) {
    if (dim.isBatching || dim.isFixed()) continue;
    FailureOr<IndexExpr> start = scatterStart(op, shape, dim, indexBase, kNone);
    if (failed(start)) return failure();
    loops.inside = both(loops.inside, inRange(*start, 0, dim.size - dim.window + 1));
    loops.target = loops.target + *start * dim.stride;
    if (dim.updateDim >= 0) loops.target = loops.target + updatePositions[dim.updateDim] * dim.stride;
  }
  FailureOr<unsigned> before = build(op.getInput(), loops.initIndex), update = build(op.getUpdates(), updateIndex);
  if (failed(before) || failed(update)) return failure();
  loops.initValue = *before;
  loops.update = *update;
  plan.scatter = loops;
  return success();
}

void NodeBuilder::addScatterRules(NodeRules& rules) { addRule<ScatterOp, &NodeBuilder::buildScatter>(rules); }
