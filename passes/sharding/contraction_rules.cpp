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

/// Batch, groups and features; windows need their whole spatial dimensions.
struct ConvolutionRule : ShardingRuleOpInterface::ExternalModel<ConvolutionRule, ConvolutionOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto convolution = cast<ConvolutionOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    ArrayRef<int64_t> lhs = cast<RankedTensorType>(convolution.getLhs().getType()).getShape();
    ArrayRef<int64_t> rhs = cast<RankedTensorType>(convolution.getRhs().getType()).getShape();
    ArrayRef<int64_t> result = convolution.getType().getShape();
    int64_t spatial = convolution.getNumSpatialDims();
    unsigned batch = rule.addFactor(lhs[0]);
    rule.mapOperand(0, 0, batch);
    rule.mapResult(0, batch);
    for (int64_t dim = 0; dim < spatial; ++dim) {
      rule.mapOperand(0, dim + 1, rule.addFactor(lhs[dim + 1], FactorKind::NeedReplication));
      rule.mapOperand(1, dim, rule.addFactor(rhs[dim], FactorKind::NeedReplication));
      rule.mapResult(dim + 1, rule.addFactor(result[dim + 1], FactorKind::NeedReplication));
    }
    unsigned group = rule.addFactor(lhs[spatial + 1]);
    rule.mapOperand(0, spatial + 1, group);
    rule.mapOperand(1, spatial, group);
    rule.mapResult(spatial + 1, group);
    unsigned inFeature = rule.addFactor(lhs[spatial + 2], FactorKind::Reduction, ReduceKind::Add);
    rule.mapOperand(0, spatial + 2, inFeature);
    rule.mapOperand(1, spatial + 1, inFeature);
    unsigned outFeature = rule.addFactor(rhs[spatial + 2]);
    rule.mapOperand(1, spatial + 2, outFeature);
    rule.mapResult(spatial + 2, outFeature);
    return rule;
  }
};
}  // namespace

void mlir::sgd::registerContractionRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    ReduceOp::attachInterface<ReduceRule>(*context);
    DotGeneralOp::attachInterface<DotGeneralRule>(*context);
    ConvolutionOp::attachInterface<ConvolutionRule>(*context);
  });
}
