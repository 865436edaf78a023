// Values of elementwise ops, constants and reductions at an index, and the index arithmetic that all rules share.
#include "targets/kernels/node_builder.h"

#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/Hashing.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

uint64_t NodeBuilder::varsOf(const IndexExpr& index) const {
  uint64_t vars = 0;
  for (const IndexExpr::Term& term : index.getTerms()) {
    auto opaqueVar = plan.opaqueVars.find(term.var);
    vars |= opaqueVar == plan.opaqueVars.end() ? uint64_t{1} << term.var : plan.nodes[opaqueVar->second].vars;
  }
  return vars;
}

unsigned NodeBuilder::phaseOf(const IndexExpr& index) const {
  unsigned phase = 0;
  for (const IndexExpr::Term& term : index.getTerms()) {
    auto opaqueVar = plan.opaqueVars.find(term.var);
    if (opaqueVar != plan.opaqueVars.end()) phase = std::max(phase, plan.nodes[opaqueVar->second].phase);
  }
  return phase;
}

/// Equal nodes are one node, so that values needed twice are computed once.
unsigned NodeBuilder::addNode(Node node) {
  size_t hash = llvm::hash_combine(
      static_cast<int>(node.kind), node.type.getAsOpaquePointer(), static_cast<void*>(node.op), hash_value(node.index),
      node.value ? node.value.getAsOpaquePointer() : nullptr, node.buffer, node.guard, node.low, node.high);
  for (unsigned operand : node.operands) hash = llvm::hash_combine(hash, operand);
  auto& candidates = pureNodes[hash];
  for (unsigned candidate : candidates) {
    const Node& other = plan.nodes[candidate];
    if (other.kind == node.kind && other.type == node.type && other.op == node.op && other.operands == node.operands &&
        other.index == node.index && other.value == node.value && other.buffer == node.buffer &&
        other.guard == node.guard && other.low == node.low && other.high == node.high &&
        other.isUnsigned == node.isUnsigned)
      return candidate;
  }
  node.vars |= varsOf(node.index);
  node.phase = std::max(node.phase, phaseOf(node.index));
  for (unsigned operand : node.operands) {
    node.vars |= plan.nodes[operand].vars;
    node.phase = std::max(node.phase, plan.nodes[operand].phase);
  }
  if (node.guard != kNone) {
    node.vars |= plan.nodes[node.guard].vars;
    node.phase = std::max(node.phase, plan.nodes[node.guard].phase);
  }
  if (node.kind == NodeKind::Reduce) {
    node.vars &= ~plan.mask(plan.rowVars);
    plan.phases = std::max(plan.phases, ++node.phase);
  }
  plan.nodes.push_back(std::move(node));
  candidates.push_back(plan.nodes.size() - 1);
  return plan.nodes.size() - 1;
}

FailureOr<unsigned> NodeBuilder::build(Value value, const IndexExpr& index, unsigned guard) {
  // An index into a single element is 0, whatever its form.
  if (tensorType(value).getNumElements() == 1 && !(index == IndexExpr(0))) return build(value, IndexExpr(0), guard);
  Key key{value, index, guard};
  if (auto known = memo.find(key); known != memo.end()) return known->second;
  FailureOr<unsigned> node = failure();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Node load{NodeKind::Load, tensorType(value).getElementType()};
    load.index = index;
    load.buffer = argument.getArgNumber();
    load.guard = guard;
    node = addNode(load);
  } else {
    node = buildOp(value.getDefiningOp(), index, guard);
  }
  if (succeeded(node)) memo[key] = *node;
  return node;
}

const NodeRules& NodeBuilder::getRules() {
  static const NodeRules rules = [] {
    NodeRules all;
    addRule<ReduceOp, &NodeBuilder::buildReduce>(all);
    addMovementRules(all);
    addIndexRules(all);
    addScatterRules(all);
    return all;
  }();
  return rules;
}

FailureOr<unsigned> NodeBuilder::buildOp(Operation* op, const IndexExpr& index, unsigned guard) {
  if (op->getNumResults() != 1) return op->emitOpError("cannot be part of a kernel: it has several results");
  if (op->hasTrait<OpTrait::ConstantLike>()) return buildConstant(op, index, guard);
  if (NodeRule rule = getRules().lookup(op->getName().getTypeID())) return rule(*this, op, index, guard);
  if (op->hasTrait<OpTrait::Elementwise>()) return buildElementwise(op, index, guard);
  return op->emitOpError("cannot be part of a kernel; express it by ops that docs/reference/operations.md lists");
}

FailureOr<unsigned> NodeBuilder::buildElementwise(Operation* op, const IndexExpr& index, unsigned guard) {
  Node node{NodeKind::Elementwise, tensorType(op->getResult(0)).getElementType()};
  node.op = op;
  for (Value operand : op->getOperands()) {
    // select may take one scalar condition for all elements.
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type) return op->emitOpError("operands must be tensors in a kernel");
    FailureOr<unsigned> value = build(operand, index, guard);
    if (failed(value)) return failure();
    node.operands.push_back(*value);
  }
  return addNode(node);
}

FailureOr<unsigned> NodeBuilder::buildConstant(Operation* op, const IndexExpr& index, unsigned guard) {
  DenseElementsAttr value;
  if (!matchPattern(op, m_Constant(&value))) return op->emitOpError("constant must be dense in a kernel");
  Node node{value.isSplat() ? NodeKind::Constant : NodeKind::Load, value.getElementType()};
  if (value.isSplat()) {
    node.value = cast<TypedAttr>(value.getSplatValue<Attribute>());
    return addNode(node);
  }
  auto known = llvm::find(plan.tables, value);
  node.buffer = plan.cluster.getNumOperands() + (known - plan.tables.begin());
  if (known == plan.tables.end()) plan.tables.push_back(value);
  node.index = index;
  node.guard = guard;
  return addNode(node);
}

FailureOr<unsigned> NodeBuilder::buildReduce(ReduceOp op, const IndexExpr& index, unsigned guard) {
  if (guard != kNone) return op.emitOpError("cannot be fused into a pad or concatenate");
  auto input = tensorType(op.getInput());
  if (input.getNumElements() == 0) {
    OpBuilder builder(op.getContext());
    Node neutral(NodeKind::Constant, input.getElementType());
    neutral.value = getNeutralElement(builder, op.getKind(), input.getElementType());
    return addNode(neutral);
  }
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape()), keptExtents, keptStrides;
  SmallVector<std::pair<int64_t, int64_t>> reduced;  // extent and stride of runs of reduced dimensions
  bool previousReduced = false, previousKept = false;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (size == 1) continue;
    bool isReduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
    if (isReduced && previousReduced) {
      reduced.back() = {reduced.back().first * size, strides[dim]};
    } else if (isReduced) {
      reduced.push_back({size, strides[dim]});
    } else if (previousKept) {
      keptExtents.back() *= size, keptStrides.back() = strides[dim];
    } else {
      keptExtents.push_back(size), keptStrides.push_back(strides[dim]);
    }
    previousReduced = isReduced, previousKept = !isReduced;
  }
  if (reduced.empty()) return build(op.getInput(), index);
  IndexExpr operandIndex = linearize(index, keptExtents, keptStrides);
  if (reduced.size() != row.extents.size())
    return op.emitOpError("reduces other dimensions than the rest of the kernel");
  for (auto [run, extent, position] : llvm::zip(reduced, row.extents, row.indices)) {
    if (run.first != extent) return op.emitOpError("reduces other dimensions than the rest of the kernel");
    operandIndex = operandIndex + position * run.second;
  }
  if (varsOf(index) & plan.mask(plan.rowVars)) return op.emitOpError("would be computed again at each point of a row");
  FailureOr<unsigned> operand = build(op.getInput(), operandIndex);
  if (failed(operand)) return failure();
  Node node{NodeKind::Reduce, input.getElementType()};
  node.op = op;
  node.operands.push_back(*operand);
  node.index = index;  // part of its identity: a broadcast operand may not vary with it
  return addNode(node);
}

// Index arithmetic
// ------------------------------------------------------------------------------------------------------

IndexExpr NodeBuilder::opaque(Node node, int64_t extent) {
  unsigned value = addNode(std::move(node));
  for (auto [var, owner] : plan.opaqueVars)
    if (owner == value) return IndexExpr::variable(var);
  unsigned var = plan.space.add(extent);
  plan.opaqueVars[var] = value;
  return IndexExpr::variable(var);
}

std::pair<IndexExpr, IndexExpr> NodeBuilder::divide(const IndexExpr& index, int64_t divisor) {
  if (auto result = plan.space.divide(index, divisor)) return *result;
  if (auto split = plan.space.splitFor(index, divisor)) requests.push_back(*split);
  // Shifted so that the numerator is not negative; division rounds down.
  auto [low, high] = plan.space.range(index);
  int64_t shift = low < 0 ? (-low + divisor - 1) / divisor : 0;
  Node quotient{NodeKind::Quotient}, remainder{NodeKind::Remainder};
  quotient.index = remainder.index = index + IndexExpr(shift * divisor);
  quotient.high = remainder.high = divisor;
  IndexExpr q = opaque(quotient, high / divisor + shift + 1), r = opaque(remainder, divisor);
  return {q + IndexExpr(-shift), r};
}

SmallVector<IndexExpr> NodeBuilder::delinearize(const IndexExpr& index, ArrayRef<int64_t> extents) {
  SmallVector<IndexExpr> indices(extents.size());
  IndexExpr rest = index;
  for (int64_t dim = static_cast<int64_t>(extents.size()) - 1; dim > 0; --dim) {
    if (extents[dim] <= 1) continue;  // no element has an index if one is 0
    std::tie(rest, indices[dim]) = divide(rest, extents[dim]);
  }
  if (!extents.empty()) indices[0] = rest;
  return indices;
}

IndexExpr NodeBuilder::linearize(const IndexExpr& index, ArrayRef<int64_t> extents, ArrayRef<int64_t> strides) {
  IndexExpr result;
  for (auto [position, stride] : llvm::zip(delinearize(index, extents), strides)) result = result + position * stride;
  return result;
}

IndexExpr NodeBuilder::stridedIndex(ArrayRef<StridedDim> dims, int64_t offset, const IndexExpr& index,
                                    SmallVectorImpl<IndexExpr>* isolated) {
  // Dimensions that are one run in the operand too need not be told apart.
  SmallVector<StridedDim> groups;
  for (const StridedDim& dim : dims) {
    if (dim.size == 1 && !dim.isolated) continue;
    bool merges =
        !groups.empty() && !dim.isolated && !groups.back().isolated && groups.back().stride == dim.stride * dim.size;
    if (merges)
      groups.back() = {groups.back().size * dim.size, dim.stride};
    else
      groups.push_back(dim);
  }
  SmallVector<int64_t> extents =
      llvm::to_vector(llvm::map_range(groups, [](const StridedDim& dim) { return dim.size; }));
  IndexExpr result(offset);
  for (auto [dim, position] : llvm::zip(groups, delinearize(index, extents))) {
    result = result + position * dim.stride;
    if (dim.isolated && isolated) isolated->push_back(position);
  }
  return result;
}

FailureOr<unsigned> NodeBuilder::buildStrided(Value operand, ArrayRef<StridedDim> dims, int64_t offset,
                                              const IndexExpr& index, unsigned guard) {
  return build(operand, stridedIndex(dims, offset, index), guard);
}
