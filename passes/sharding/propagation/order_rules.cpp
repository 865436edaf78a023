// Rules of ops that order elements along a dimension: it must be whole, the others pass through.
#include "passes/sharding/propagation/rules.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct SortRule : ShardingRuleOpInterface::ExternalModel<SortRule, SortOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto sort = cast<SortOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(sort.getInputs()[0]))) {
      unsigned factor =
          rule.addFactor(size, dim == sort.getDimension() ? FactorKind::NeedReplication : FactorKind::PassThrough);
      for (unsigned index = 0; index < op->getNumOperands(); ++index) {
        rule.mapOperand(index, dim, factor);
        rule.mapResult(dim, factor, index);
      }
    }
    return rule;
  }
};

struct TopKRule : ShardingRuleOpInterface::ExternalModel<TopKRule, TopKOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto topK = cast<TopKOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    ArrayRef<int64_t> shape = shapeOf(topK.getInput());
    for (auto [dim, size] : llvm::enumerate(shape.drop_back())) {
      unsigned factor = rule.addFactor(size);
      rule.mapOperand(0, dim, factor);
      for (unsigned result = 0; result < 2; ++result) rule.mapResult(dim, factor, result);
    }
    auto last = static_cast<int64_t>(shape.size()) - 1;
    rule.mapOperand(0, last, rule.addFactor(shape.back(), FactorKind::NeedReplication));
    unsigned chosen = rule.addFactor(static_cast<int64_t>(topK.getK()), FactorKind::NeedReplication);
    for (unsigned result = 0; result < 2; ++result) rule.mapResult(last, chosen, result);
    return rule;
  }
};
}  // namespace

void mlir::sgd::registerOrderRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    SortOp::attachInterface<SortRule>(*context);
    TopKOp::attachInterface<TopKRule>(*context);
  });
}
