// The rule of host calls: values are whole where rank 0 calls for all, and a rank's own where each rank calls.
#include "passes/sharding/propagation/host_call_rules.h"

#include "dialects/sgd/host_call.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct HostCallRule : ShardingRuleOpInterface::ExternalModel<HostCallRule, HostCallOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto call = cast<HostCallOp>(op);
    auto coordinates = static_cast<int64_t>(call.getCoordinates());
    // Behind coordinates, which take all axes, and without them, where ranks call with their shards.
    bool passesShards = call.getEachRank() && coordinates == 0 && op->getNumResults() == 0;
    ShardingRule rule = ShardingRule::empty(op);
    auto map = [&](Value value, auto&& mapDim) {
      for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape())) {
        bool isCoordinate = static_cast<int64_t>(dim) < coordinates;
        mapDim(dim, isCoordinate
                        ? static_cast<unsigned>(dim)
                        : rule.addFactor(size, passesShards ? FactorKind::PassThrough : FactorKind::NeedReplication));
      }
    };
    // The coordinates come first.
    if (op->getNumOperands() + op->getNumResults() > 0 && coordinates > 0) {
      Value any = op->getNumOperands() > 0 ? op->getOperand(0) : Value(op->getResult(0));
      for (int64_t size : cast<RankedTensorType>(any.getType()).getShape().take_front(coordinates))
        rule.addFactor(size);
    }
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      map(operand, [&, index = index](int64_t dim, unsigned factor) { rule.mapOperand(index, dim, factor); });
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      map(result, [&, index = index](int64_t dim, unsigned factor) { rule.mapResult(dim, factor, index); });
    return rule;
  }
};
}  // namespace

void mlir::sgd::registerHostCallRules(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, SgdDialect*) { HostCallOp::attachInterface<HostCallRule>(*context); });
}
