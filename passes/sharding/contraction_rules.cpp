// Rules of reductions and contractions: sharding a contracted dimension gives partial results.
#include "passes/sharding/rules.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct ReduceRule : ShardingRuleOpInterface::ExternalModel<ReduceRule, ReduceOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto reduce = cast<ReduceOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    int64_t resultDim = 0;
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(reduce.getInput().getType()).getShape())) {
      bool isReduced = llvm::is_contained(reduce.getDimensions(), dim);
      unsigned factor =
          rule.addFactor(size, isReduced ? FactorKind::Reduction : FactorKind::PassThrough, reduce.getKind());
      rule.mapOperand(0, dim, factor);
      if (!isReduced) rule.mapResult(resultDim++, factor);
    }
    return rule;
  }
};

struct DotGeneralRule : ShardingRuleOpInterface::ExternalModel<DotGeneralRule, DotGeneralOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto dot = cast<DotGeneralOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    ArrayRef<int64_t> lhs = cast<RankedTensorType>(dot.getLhs().getType()).getShape();
    ArrayRef<int64_t> rhs = cast<RankedTensorType>(dot.getRhs().getType()).getShape();
    int64_t resultDim = 0;
    for (auto [l, r] : llvm::zip(dot.getLhsBatching(), dot.getRhsBatching())) {
      unsigned factor = rule.addFactor(lhs[l]);
      rule.mapOperand(0, l, factor);
      rule.mapOperand(1, r, factor);
      rule.mapResult(resultDim++, factor);
    }
    auto addFree = [&](unsigned operand, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
      for (int64_t dim : dims) {
        unsigned factor = rule.addFactor(shape[dim]);
        rule.mapOperand(operand, dim, factor);
        rule.mapResult(resultDim++, factor);
      }
    };
    addFree(0, dot.getLhsFree(), lhs);
    addFree(1, dot.getRhsFree(), rhs);
    for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting())) {
      unsigned factor = rule.addFactor(lhs[l], FactorKind::Reduction, ReduceKind::Add);
      rule.mapOperand(0, l, factor);
      rule.mapOperand(1, r, factor);
    }
    return rule;
  }
};
}  // namespace

void mlir::sgd::registerContractionRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    ReduceOp::attachInterface<ReduceRule>(*context);
    DotGeneralOp::attachInterface<DotGeneralRule>(*context);
  });
}
