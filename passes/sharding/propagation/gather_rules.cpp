// Rules of gather and scatter. Index dimensions belong to result or updates; whole window
// dimensions and batching dimensions pass through. Along an indexed dimension each shard of a gather's operand
// contributes what it holds, so that the result is a sum; each shard of a scatter's operand takes what falls into it.
// Sharding the index dimensions of a combining scatter gives partial results.
#include "passes/sharding/propagation/rules.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
constexpr unsigned kInput = 0, kIndices = 1, kUpdates = 2;

/// Factors of the index tensor's dimensions in order, without that of the index vector, which must
/// be whole.
SmallVector<unsigned> addIndexFactors(ShardingRule& rule, ArrayRef<int64_t> shape, int64_t indexVectorDim,
                                      ArrayRef<int64_t> batching, FactorKind kind, ReduceKind reduceKind) {
  SmallVector<unsigned> factors;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isVector = static_cast<int64_t>(dim) == indexVectorDim;
    FactorKind dimKind = isVector                            ? FactorKind::NeedReplication
                         : llvm::is_contained(batching, dim) ? FactorKind::PassThrough
                                                             : kind;
    unsigned factor = rule.addFactor(size, dimKind, reduceKind);
    rule.mapOperand(kIndices, dim, factor);
    if (!isVector) factors.push_back(factor);
  }
  return factors;
}

/// Dimension of the index tensor -> position among its dimensions without the index vector.
int64_t batchPosition(int64_t indicesDim, int64_t indexVectorDim) {
  return indicesDim - (indexVectorDim < indicesDim ? 1 : 0);
}

struct GatherRule : ShardingRuleOpInterface::ExternalModel<GatherRule, GatherOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto gather = cast<GatherOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    // Indices are clamped to what is not padding.
    rule.padding = {PaddingFill::Anything, PaddingFill::Anything};
    ArrayRef<int64_t> input = shapeOf(gather.getInput());
    SmallVector<unsigned> indexFactors = addIndexFactors(rule, shapeOf(gather.getIndices()), gather.getIndexVectorDim(),
                                                         {}, FactorKind::PassThrough, ReduceKind::Add);
    for (auto [from, to] : llvm::zip(gather.getOperandBatchingDims(), gather.getIndicesBatchingDims()))
      rule.mapOperand(kInput, from, indexFactors[batchPosition(to, gather.getIndexVectorDim())]);

    unsigned window = 0, batch = 0;
    ArrayRef<int64_t> offsetDims = gather.getOffsetDims();
    for (int64_t dim = 0, rank = shapeOf(gather.getResult()).size(); dim < rank; ++dim)
      if (!llvm::is_contained(offsetDims, dim)) rule.mapResult(dim, indexFactors[batch++]);
    for (auto [dim, size] : llvm::enumerate(input)) {
      if (llvm::is_contained(gather.getOperandBatchingDims(), dim)) continue;
      int64_t sliceSize = gather.getSliceSizes()[dim];
      bool isCollapsed = llvm::is_contained(gather.getCollapsedSliceDims(), dim);
      bool passes = !isCollapsed && sliceSize == size;
      unsigned factor = passes ? rule.addFactor(size) : addSelection(rule, size, gather.getType());
      rule.mapOperand(kInput, dim, factor);
      if (!isCollapsed) rule.mapResult(offsetDims[window++], passes ? factor : rule.addFactor(sliceSize));
    }
    return rule;
  }
};

std::optional<ReduceKind> reduceKindOf(ScatterKind kind) {
  switch (kind) {
    case ScatterKind::Set:
      return std::nullopt;
    case ScatterKind::Add:
      return ReduceKind::Add;
    case ScatterKind::Mul:
      return ReduceKind::Mul;
    case ScatterKind::Max:
      return ReduceKind::Max;
    case ScatterKind::Min:
      return ReduceKind::Min;
    case ScatterKind::UMax:
      return ReduceKind::UMax;
    case ScatterKind::UMin:
      return ReduceKind::UMin;
    case ScatterKind::And:
      return ReduceKind::And;
    case ScatterKind::Or:
      return ReduceKind::Or;
    case ScatterKind::Xor:
      return ReduceKind::Xor;
  }
  llvm_unreachable("all kinds are handled");
}

/// Whether an index vector of nothing but ones points outside of the operand: not when it has no components, or counts
/// without a sign in few bits.
bool isAllOnesOutside(ScatterOp scatter) {
  unsigned width = cast<RankedTensorType>(scatter.getIndices().getType()).getElementTypeBitWidth();
  return llvm::any_of(scatter.getScatterDimsToOperandDims(), [&](int64_t dim) {
    return !scatter.getUnsignedIndices() || width > 32 || shapeOf(scatter.getInput())[dim] < (int64_t(1) << width);
  });
}

struct ScatterRule : ShardingRuleOpInterface::ExternalModel<ScatterRule, ScatterOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto scatter = cast<ScatterOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    std::optional<ReduceKind> kind = reduceKindOf(scatter.getKind());
    if (kind) rule.accumulator = kInput;
    // An update whose index is padding lands nowhere, or changes nothing.
    rule.padding = {PaddingFill::Anything, PaddingFill::AllOnes, PaddingFill::Anything};
    if (!isAllOnesOutside(scatter)) rule.padding = {PaddingFill::Anything, PaddingFill::Anything, PaddingFill::Neutral};
    SmallVector<unsigned> indexFactors = addIndexFactors(
        rule, shapeOf(scatter.getIndices()), scatter.getIndexVectorDim(), scatter.getIndicesBatchingDims(),
        kind ? FactorKind::Reduction : FactorKind::NeedReplication, kind.value_or(ReduceKind::Add));
    for (auto [from, to] : llvm::zip(scatter.getInputBatchingDims(), scatter.getIndicesBatchingDims())) {
      unsigned factor = indexFactors[batchPosition(to, scatter.getIndexVectorDim())];
      rule.mapOperand(kInput, from, factor);
      rule.mapResult(from, factor);
    }
    mapWindow(scatter, rule);
    unsigned batch = 0;
    for (int64_t dim = 0, rank = shapeOf(scatter.getUpdates()).size(); dim < rank; ++dim)
      if (!llvm::is_contained(scatter.getUpdateWindowDims(), dim))
        rule.mapOperand(kUpdates, dim, indexFactors[batch++]);
    return rule;
  }

  /// Dimensions of the operand that are not batching. Windows that are not whole must be known on every rank: any
  /// shard may take a part of them.
  static void mapWindow(ScatterOp scatter, ShardingRule& rule) {
    unsigned window = 0;
    for (auto [dim, size] : llvm::enumerate(shapeOf(scatter.getInput()))) {
      if (llvm::is_contained(scatter.getInputBatchingDims(), dim)) continue;
      bool isInserted = llvm::is_contained(scatter.getInsertedWindowDims(), dim);
      int64_t updateDim = isInserted ? -1 : scatter.getUpdateWindowDims()[window++];
      int64_t updateSize = isInserted ? 1 : shapeOf(scatter.getUpdates())[updateDim];
      bool passes = !isInserted && updateSize == size;
      unsigned factor = rule.addFactor(size);
      rule.mapOperand(kInput, dim, factor);
      rule.mapResult(dim, factor);
      if (!isInserted)
        rule.mapOperand(kUpdates, updateDim, passes ? factor : rule.addFactor(updateSize, FactorKind::NeedReplication));
    }
  }
};
}  // namespace

void mlir::sgd::registerGatherRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    GatherOp::attachInterface<GatherRule>(*context);
    ScatterOp::attachInterface<ScatterRule>(*context);
  });
}
