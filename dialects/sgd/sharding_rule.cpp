// Building blocks of sharding rules; the rules themselves are external models in passes/sharding/propagation.
#include "dialects/sgd/sharding_rule.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/sharding_rule.cpp.inc"

static int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

ShardingRule ShardingRule::empty(Operation* op) {
  ShardingRule rule;
  for (Type type : op->getOperandTypes()) rule.operands.emplace_back(rankOf(type));
  for (Type type : op->getResultTypes()) rule.results.emplace_back(rankOf(type));
  return rule;
}

ShardingRule ShardingRule::elementwise(Operation* op) {
  ShardingRule rule = empty(op);
  rule.isElementwise = true;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result) return rule;
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    unsigned factor = rule.addFactor(result.getDimSize(dim));
    for (TensorMapping& operand : rule.operands)
      if (static_cast<int64_t>(operand.size()) == result.getRank()) operand[dim].push_back(factor);
    rule.results[0][dim].push_back(factor);
  }
  return rule;
}

unsigned ShardingRule::addFactor(int64_t size, FactorKind kind, ReduceKind reduceKind) {
  factors.push_back({size, kind, reduceKind});
  return factors.size() - 1;
}

bool mlir::sgd::isElementwise(Operation* op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  return ruled && op->getNumOperands() > 0 && ruled.getShardingRule().isElementwise;
}

SmallVector<int64_t> ShardingRule::factorSizes() const {
  return llvm::map_to_vector(factors, [](const Factor& factor) { return factor.size; });
}
