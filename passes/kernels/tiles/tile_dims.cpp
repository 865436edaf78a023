// Union of dimensions over the ops of a group.
#include "passes/kernels/tiles/tile_dims.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sharding_rule.h"

using namespace mlir;
using namespace mlir::sgd;

TileDims::TileDims(ArrayRef<Operation*> ops) {
  for (Operation* op : ops) isa<fusion::MatmulOp>(op) ? addMatmul(op) : addCluster(op);
}

int64_t TileDims::getDim(Value value, unsigned number) const {
  auto found = nodes.find(value);
  if (found == nodes.end()) return -1;
  for (auto [dim, node] : llvm::enumerate(found->second))
    if (find(node) == number) return dim;
  return -1;
}

ArrayRef<unsigned> TileDims::getNodes(Value value) {
  auto [entry, isNew] = nodes.try_emplace(value);
  if (isNew)
    for (int64_t size : cast<RankedTensorType>(value.getType()).getShape()) {
      entry->second.push_back(parents.size());
      parents.push_back(parents.size());
      classes.emplace_back().size = size;
    }
  return entry->second;
}

unsigned TileDims::find(unsigned node) const {
  while (parents[node] != node) node = parents[node];
  return node;
}

void TileDims::unite(unsigned a, unsigned b) {
  a = find(a), b = find(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  parents[b] = a;
  DimClass &into = classes[a], &from = classes[b];
  into.isWhole |= from.isWhole || into.size != from.size;
  into.isReduced |= from.isReduced;
  into.isIndexed |= from.isIndexed;
  into.batchCount += from.batchCount;
}

void TileDims::uniteAll(Value a, Value b) {
  SmallVector<unsigned, 4> left(getNodes(a));
  for (auto [first, second] : llvm::zip(left, getNodes(b))) unite(first, second);
}

void TileDims::keepWhole(Value value) {
  for (unsigned node : getNodes(value)) classes[find(node)].isWhole = true;
}

void TileDims::addMatmul(Operation* op) {
  auto matmul = cast<fusion::MatmulOp>(op);
  llvm::MapVector<int64_t, SmallVector<unsigned, 3>> labels;
  auto add = [&](Value value, ArrayRef<int64_t> names) {
    for (auto [name, node] : llvm::zip(names, getNodes(value))) labels[name].push_back(node);
  };
  add(matmul.getLhs(), matmul.getLhsLabels());
  add(matmul.getRhs(), matmul.getRhsLabels());
  add(matmul.getResult(), matmul.getResultLabels());
  for (auto& [name, same] : labels) {
    for (unsigned node : same) unite(same.front(), node);
    if (same.size() == 3) ++classes[find(same.front())].batchCount;
  }
}

void TileDims::addCluster(Operation* op) {
  auto cluster = cast<fusion::ClusterOp>(op);
  Block& block = cluster.getBody().front();
  for (auto [operand, argument] : llvm::zip(cluster.getInputs(), block.getArguments())) uniteAll(operand, argument);
  for (Operation& inner : block.without_terminator()) addInnerOp(&inner);
  for (auto [result, value] : llvm::zip(cluster.getResults(), block.getTerminator()->getOperands()))
    uniteAll(result, value);
}

/// Ops whose attributes say nothing about sizes: a part of the result needs only its types changed.
static bool followsTypes(Operation* op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<BroadcastInDimOp, TransposeOp, ReshapeOp, ReduceOp>(op);
}

void TileDims::addInnerOp(Operation* op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (isa<SplatElementsAttr>(constant.getValue())) return (void)getNodes(constant.getResult());
  if (auto iota = dyn_cast<IotaOp>(op)) {
    classes[getNodes(iota.getResult())[iota.getDimension()]].isIndexed = true;
    return;
  }
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!interface || !followsTypes(op)) {
    for (Value value : op->getOperands()) keepWhole(value);
    for (Value value : op->getResults()) keepWhole(value);
    return;
  }
  ShardingRule rule = interface.getShardingRule();
  SmallVector<SmallVector<unsigned, 4>> members(rule.factors.size());
  SmallVector<bool> isWhole;
  for (const Factor& factor : rule.factors)
    isWhole.push_back(factor.kind == FactorKind::NeedReplication || factor.kind == FactorKind::Permutation);
  auto add = [&](Value value, const TensorMapping& mapping) {
    ArrayRef<unsigned> dims = getNodes(value);
    for (auto [dim, factors] : llvm::enumerate(mapping))
      for (unsigned factor : factors) {
        members[factor].push_back(dims[dim]);
        if (factors.size() > 1) isWhole[factor] = true;
      }
  };
  for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands)) add(operand, mapping);
  for (auto [result, mapping] : llvm::zip(op->getResults(), rule.results)) add(result, mapping);
  for (auto [number, same] : llvm::enumerate(members)) {
    if (same.empty()) continue;
    for (unsigned node : same) {
      if (isWhole[number])
        classes[find(node)].isWhole = true;
      else
        unite(same.front(), node);
    }
    classes[find(same.front())].isReduced |= rule.factors[number].kind == FactorKind::Reduction;
  }
}
