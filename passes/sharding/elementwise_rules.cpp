// One rule for every elementwise op, and for the ops that return their operands' values unchanged.
#include "passes/sharding/rules.h"

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

template <typename Op>
static void attachIfElementwise(MLIRContext* context) {
  if constexpr (Op::template hasTrait<OpTrait::Elementwise>())
    Op::template attachInterface<ElementwiseRule<Op>>(*context);
}

template <typename... Ops>
static void attachToElementwise(MLIRContext* context) {
  (attachIfElementwise<Ops>(context), ...);
}

void mlir::sgd::registerElementwiseRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, arith::ArithDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
    arith::ConstantOp::attachInterface<ConstantRule>(*context);
  });
  registry.addExtension(+[](MLIRContext* context, math::MathDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "dialects/sgd/sgd_ops.cpp.inc"
        >(context);
    ShardingConstraintOp::attachInterface<ElementwiseRule<ShardingConstraintOp>>(*context);
    ReshardOp::attachInterface<ElementwiseRule<ReshardOp>>(*context);
    OptimizationBarrierOp::attachInterface<BarrierRule>(*context);
  });
}
