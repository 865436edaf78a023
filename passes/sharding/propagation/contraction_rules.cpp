// Rules of reductions, cumulative ones too, and contractions: sharding a contracted dimension gives partial results.
#include "dialects/sgd/grouped_dot.h"
#include "passes/sharding/propagation/rules.h"

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

/// Along its dimension ranks exchange their totals.
struct CumulativeRule : ShardingRuleOpInterface::ExternalModel<CumulativeRule, CumulativeOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto cumulative = cast<CumulativeOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(cumulative.getType()).getShape())) {
      bool isOwn = static_cast<int64_t>(dim) == static_cast<int64_t>(cumulative.getDimension());
      unsigned factor = rule.addFactor(size, isOwn ? FactorKind::Permutation : FactorKind::PassThrough);
      rule.mapOperand(0, dim, factor);
      rule.mapResult(dim, factor);
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

/// Rows are independent unless they are contracted; a rank that holds a part of the groups has nothing for rows of
/// others. Padding belongs to no group.
struct GroupedDotRule : ShardingRuleOpInterface::ExternalModel<GroupedDotRule, GroupedDotOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto dot = cast<GroupedDotOp>(op);
    GroupedDotSizes sizes(dot);
    ShardingRule rule = ShardingRule::empty(op);
    enum Operand { Lhs, Rhs, Rows, Groups };
    int64_t at = sizes.batch.size();
    for (auto [dim, size] : llvm::enumerate(sizes.batch)) {
      unsigned factor = rule.addFactor(size);
      for (unsigned operand : {Lhs, Rhs, Rows, Groups}) rule.mapOperand(operand, dim, factor);
      rule.mapResult(dim, factor);
    }
    auto add = [&](int64_t size, bool isSummed) {
      return rule.addFactor(size, isSummed ? FactorKind::Reduction : FactorKind::PassThrough, ReduceKind::Add);
    };
    bool isContracted = dot.getContracted();
    unsigned m = add(sizes.m, isContracted), group = add(sizes.groups, !isContracted), k = add(sizes.k, !isContracted),
             n = add(sizes.n, false);
    rule.mapOperand(Lhs, at, m);
    rule.mapOperand(Lhs, at + 1, k);
    rule.mapOperand(Rows, at, m);
    rule.mapOperand(Groups, at, group);
    rule.padding = {PaddingFill::Neutral, PaddingFill::Neutral, PaddingFill::AllOnes, PaddingFill::AllOnes};
    if (isContracted) {
      rule.mapOperand(Rhs, at, m);
      rule.mapOperand(Rhs, at + 1, n);
      for (auto [dim, factor] : llvm::enumerate(std::array{group, k, n})) rule.mapResult(at + dim, factor);
      return rule;
    }
    rule.mapOperand(Rhs, at, group);
    rule.mapOperand(Rhs, at + (dot.getTransposed() ? 2 : 1), k);
    rule.mapOperand(Rhs, at + (dot.getTransposed() ? 1 : 2), n);
    rule.mapResult(at, m);
    rule.mapResult(at + 1, n);
    return rule;
  }
};

/// One spatial dimension. A rank computes its own windows from the elements that they cover. Where windows have more
/// elements than there are windows, as in the gradient of a filter, it sums the products of its own elements in all
/// windows.
void mapSpatialDimension(ShardingRule& rule, ConvolutionOp convolution, int64_t dim) {
  int64_t lhs = cast<RankedTensorType>(convolution.getLhs().getType()).getDimSize(dim + 1);
  int64_t window = cast<RankedTensorType>(convolution.getRhs().getType()).getDimSize(dim);
  int64_t result = convolution.getType().getDimSize(dim + 1);
  bool sumsParts = window > result;
  FactorKind kind = sumsParts ? FactorKind::Reduction : FactorKind::Permutation;
  unsigned moved = rule.addFactor(std::max(lhs, sumsParts ? window : result), kind, ReduceKind::Add);
  unsigned whole = rule.addFactor(sumsParts ? result : window, FactorKind::NeedReplication);
  rule.mapOperand(0, dim + 1, moved);
  rule.mapOperand(1, dim, sumsParts ? moved : whole);
  rule.mapResult(dim + 1, sumsParts ? whole : moved);
}

struct ConvolutionRule : ShardingRuleOpInterface::ExternalModel<ConvolutionRule, ConvolutionOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto convolution = cast<ConvolutionOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    ArrayRef<int64_t> lhs = cast<RankedTensorType>(convolution.getLhs().getType()).getShape();
    ArrayRef<int64_t> rhs = cast<RankedTensorType>(convolution.getRhs().getType()).getShape();
    int64_t spatial = convolution.getNumSpatialDims();
    unsigned batch = rule.addFactor(lhs[0]);
    rule.mapOperand(0, 0, batch);
    rule.mapResult(0, batch);
    for (int64_t dim = 0; dim < spatial; ++dim) mapSpatialDimension(rule, convolution, dim);
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
    CumulativeOp::attachInterface<CumulativeRule>(*context);
    DotGeneralOp::attachInterface<DotGeneralRule>(*context);
    GroupedDotOp::attachInterface<GroupedDotRule>(*context);
    ConvolutionOp::attachInterface<ConvolutionRule>(*context);
  });
}
