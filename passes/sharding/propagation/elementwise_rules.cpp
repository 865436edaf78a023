// One rule for every elementwise op, and for the ops that return their operands' values unchanged.
#include "dialects/sgd/elementwise_models.h"
#include "passes/sharding/propagation/rules.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
template <typename Op>
struct ElementwiseRule : ShardingRuleOpInterface::ExternalModel<ElementwiseRule<Op>, Op> {
  ShardingRule getShardingRule(Operation* op) const { return ShardingRule::elementwise(op); }
};

/// A constant can be made in any sharding without communication.
struct ConstantRule : ShardingRuleOpInterface::ExternalModel<ConstantRule, arith::ConstantOp> {
  ShardingRule getShardingRule(Operation* op) const {
    ShardingRule rule = ShardingRule::elementwise(op);
    rule.isElementwise = false;
    return rule;
  }
};

/// Each operand belongs to the result at its position alone.
struct BarrierRule : ShardingRuleOpInterface::ExternalModel<BarrierRule, OptimizationBarrierOp> {
  ShardingRule getShardingRule(Operation* op) const {
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
      for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape())) {
        unsigned factor = rule.addFactor(size);
        rule.mapOperand(index, dim, factor);
        rule.mapResult(dim, factor, index);
      }
    }
    return rule;
  }
};
}  // namespace

void mlir::sgd::registerElementwiseRules(DialectRegistry& registry) {
  registerElementwiseModels<ElementwiseRule>(registry);
  registry.addExtension(
      +[](MLIRContext* context, arith::ArithDialect*) { arith::ConstantOp::attachInterface<ConstantRule>(*context); });
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    ShardingConstraintOp::attachInterface<ElementwiseRule<ShardingConstraintOp>>(*context);
    ReshardOp::attachInterface<ElementwiseRule<ReshardOp>>(*context);
    OptimizationBarrierOp::attachInterface<BarrierRule>(*context);
  });
}
