// Rules of ops that move elements. A dimension that is cut, extended or reversed is a permutation;
// what stays whole passes through.
#include "dialects/sgd/placement_hints.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/rules.h"

#include <numeric>
#include <utility>

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// One factor for dimension `dim` of operand and result where it `passes` or is a permutation, else a factor of `kind`
/// for each of them.
void mapDimension(ShardingRule& rule, int64_t dim, int64_t operandSize, int64_t resultSize, bool passes,
                  FactorKind kind) {
  bool isShared = kind == FactorKind::Permutation && operandSize > 1 && resultSize > 1;
  if (passes || isShared) {
    unsigned factor =
        rule.addFactor(std::max(operandSize, resultSize), passes ? FactorKind::PassThrough : FactorKind::Permutation);
    rule.mapOperand(0, dim, factor);
    rule.mapResult(dim, factor);
    return;
  }
  rule.mapOperand(0, dim, rule.addFactor(operandSize, kind));
  rule.mapResult(dim, rule.addFactor(resultSize, kind));
}

/// Of an op whose result has elements of its first operand; `passes`: whether along a dimension they are the same.
/// `isUniform`: no rank needs elements of another along a dimension that becomes one element.
ShardingRule ruleOfMovement(Operation* op, llvm::function_ref<bool(int64_t dim)> passes, bool isUniform = false) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  // From or to one element: the two sides have factors of their own, which may be sharded over different axes.
  auto isLoose = [&](int64_t dim) { return !passes(dim) && (from[dim] <= 1 || to[dim] <= 1); };
  auto dims = llvm::seq<int64_t>(0, from.size());
  bool areSeveralLoose = !isUniform && llvm::count_if(dims, isLoose) > 1;
  bool grows = llvm::any_of(dims, [&](int64_t dim) { return isLoose(dim) && to[dim] > 1; });
  ShardingRule rule = ShardingRule::empty(op);
  for (int64_t dim : dims) {
    if (!areSeveralLoose || !isLoose(dim)) {
      mapDimension(rule, dim, from[dim], to[dim], passes(dim), FactorKind::Permutation);
      continue;
    }
    // One dimension's elements may not be fetched over the axes that another's result is cut by.
    bool isFetched = from[dim] > 1 && !grows, isCut = to[dim] > 1;
    rule.mapOperand(0, dim,
                    rule.addFactor(from[dim], isFetched ? FactorKind::Permutation : FactorKind::NeedReplication));
    rule.mapResult(dim, rule.addFactor(to[dim], isCut ? FactorKind::Permutation : FactorKind::NeedReplication));
  }
  return rule;
}

struct BroadcastRule : ShardingRuleOpInterface::ExternalModel<BroadcastRule, BroadcastInDimOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto broadcast = cast<BroadcastInDimOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(broadcast.getResult()))) rule.mapResult(dim, rule.addFactor(size));
    for (auto [from, to] : llvm::enumerate(broadcast.getDims()))
      if (shapeOf(broadcast.getInput())[from] == shapeOf(broadcast.getResult())[to]) rule.mapOperand(0, from, to);
    return rule;
  }
};

struct TransposeRule : ShardingRuleOpInterface::ExternalModel<TransposeRule, TransposeOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto transpose = cast<TransposeOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation())) {
      unsigned factor = rule.addFactor(shapeOf(transpose.getResult())[to]);
      rule.mapOperand(0, from, factor);
      rule.mapResult(to, factor);
    }
    return rule;
  }
};

/// Walks both shapes from major to minor and cuts them at their common boundaries.
struct ReshapeRule : ShardingRuleOpInterface::ExternalModel<ReshapeRule, ReshapeOp> {
  struct Side {
    ArrayRef<int64_t> shape;
    int64_t dim = -1;
    int64_t rest = 1;  // what is not yet in a factor of dimension `dim`

    /// Goes on to the next dimension larger than 1 when this one is used up; false at the end.
    bool advance() {
      while (rest == 1 && ++dim < static_cast<int64_t>(shape.size())) rest = shape[dim];
      return rest != 1;
    }
  };

  /// Neither side's rest divides the other's and they share no factor until both have consumed as much. Their first
  /// dimensions may be sharded alike (ranks then exchange elements), unless they share a factor already.
  static void addUnaligned(ShardingRule& rule, Side& from, Side& to) {
    int64_t fromDone = 1, toDone = 1;
    if (rule.operands[0][from.dim].empty() && rule.results[0][to.dim].empty()) {
      unsigned factor = rule.addFactor(std::max(from.rest, to.rest), FactorKind::Permutation);
      rule.mapOperand(0, from.dim, factor);
      rule.mapResult(to.dim, factor);
      fromDone = std::exchange(from.rest, 1);
      toDone = std::exchange(to.rest, 1);
    }
    do {
      bool isFrom = fromDone <= toDone;
      Side& side = isFrom ? from : to;
      side.advance();
      unsigned factor = rule.addFactor(side.rest, FactorKind::NeedReplication);
      isFrom ? rule.mapOperand(0, side.dim, factor) : rule.mapResult(side.dim, factor);
      (isFrom ? fromDone : toDone) *= side.rest;
      side.rest = 1;
    } while (fromDone != toDone);
  }

  ShardingRule getShardingRule(Operation* op) const {
    auto reshape = cast<ReshapeOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    rule.exchangesTiles = true;
    if (llvm::is_contained(shapeOf(reshape.getInput()), 0)) return rule;
    Side from{shapeOf(reshape.getInput())}, to{shapeOf(reshape.getResult())};
    while (from.advance() && to.advance()) {
      int64_t size = std::gcd(from.rest, to.rest);
      if (size == 1) {
        addUnaligned(rule, from, to);
        continue;
      }
      unsigned factor = rule.addFactor(size);
      rule.mapOperand(0, from.dim, factor);
      rule.mapResult(to.dim, factor);
      from.rest /= size;
      to.rest /= size;
    }
    return rule;
  }
};

struct SliceRule : ShardingRuleOpInterface::ExternalModel<SliceRule, SliceOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto slice = cast<SliceOp>(op);
    return ruleOfMovement(
        op, [&](int64_t dim) { return shapeOf(slice.getInput())[dim] == shapeOf(slice.getResult())[dim]; },
        hasHint(slice, kUniformAttr));
  }
};

struct PadRule : ShardingRuleOpInterface::ExternalModel<PadRule, PadOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto pad = cast<PadOp>(op);
    return ruleOfMovement(op, [&](int64_t dim) {
      return pad.getLow()[dim] == 0 && pad.getHigh()[dim] == 0 && pad.getInterior()[dim] == 0;
    });
  }
};

struct ReverseRule : ShardingRuleOpInterface::ExternalModel<ReverseRule, ReverseOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto reverse = cast<ReverseOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(reverse.getInput()))) {
      // Padding must stay behind even a single element.
      bool moves = llvm::is_contained(reverse.getDimensions(), dim);
      unsigned factor = rule.addFactor(size, moves ? FactorKind::Permutation : FactorKind::PassThrough);
      rule.mapOperand(0, dim, factor);
      rule.mapResult(dim, factor);
    }
    return rule;
  }
};

struct ConcatenateRule : ShardingRuleOpInterface::ExternalModel<ConcatenateRule, ConcatenateOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto concatenate = cast<ConcatenateOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(concatenate.getResult()))) {
      bool isJoined = static_cast<int64_t>(dim) == static_cast<int64_t>(concatenate.getDimension());
      unsigned factor = rule.addFactor(size, isJoined ? FactorKind::Permutation : FactorKind::PassThrough);
      rule.mapResult(dim, factor);
      for (unsigned index = 0; index < concatenate.getInputs().size(); ++index) rule.mapOperand(index, dim, factor);
    }
    return rule;
  }
};

struct IotaRule : ShardingRuleOpInterface::ExternalModel<IotaRule, IotaOp> {
  ShardingRule getShardingRule(Operation* op) const {
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0)))) rule.mapResult(dim, rule.addFactor(size));
    return rule;
  }
};

/// The summands may be over any axes, over which the operand then is partial.
struct SummandsRule : ShardingRuleOpInterface::ExternalModel<SummandsRule, SummandsOp> {
  ShardingRule getShardingRule(Operation* op) const {
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0)))) {
      unsigned factor = rule.addFactor(size);
      rule.mapResult(dim, factor);
      if (dim != 0) rule.mapOperand(0, dim - 1, factor);
    }
    return rule;
  }
};

struct DynamicSliceRule : ShardingRuleOpInterface::ExternalModel<DynamicSliceRule, DynamicSliceOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto slice = cast<DynamicSliceOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    rule.padding = {PaddingFill::Anything};  // the start is clamped
    for (auto [dim, size] : llvm::enumerate(shapeOf(slice.getInput()))) {
      int64_t resultSize = slice.getSizes()[dim];
      bool passes = size == resultSize;
      unsigned factor = passes                           ? rule.addFactor(size)
                        : hasHint(slice, kOwnerOnlyAttr) ? rule.addFactor(size, FactorKind::Permutation)
                                                         : addSelection(rule, size, slice.getType());
      rule.mapOperand(0, dim, factor);
      rule.mapResult(dim, passes ? factor : rule.addFactor(resultSize));
    }
    return rule;
  }
};

struct DynamicUpdateSliceRule : ShardingRuleOpInterface::ExternalModel<DynamicUpdateSliceRule, DynamicUpdateSliceOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto update = cast<DynamicUpdateSliceOp>(op);
    ShardingRule rule = ShardingRule::empty(op);
    for (auto [dim, size] : llvm::enumerate(shapeOf(update.getInput()))) {
      int64_t updateSize = shapeOf(update.getUpdate())[dim];
      bool passes = size == updateSize;
      unsigned factor = rule.addFactor(size);
      rule.mapOperand(0, dim, factor);
      rule.mapResult(dim, factor);
      rule.mapOperand(1, dim, passes ? factor : rule.addFactor(updateSize, FactorKind::NeedReplication));
    }
    return rule;
  }
};
}  // namespace

unsigned mlir::sgd::addSelection(ShardingRule& rule, int64_t size, RankedTensorType result) {
  bool isBoolean = result.getElementType().isInteger(1);
  return rule.addFactor(size, FactorKind::Reduction, isBoolean ? ReduceKind::Or : ReduceKind::Add);
}

void mlir::sgd::registerIndexRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    BroadcastInDimOp::attachInterface<BroadcastRule>(*context);
    TransposeOp::attachInterface<TransposeRule>(*context);
    ReshapeOp::attachInterface<ReshapeRule>(*context);
    SliceOp::attachInterface<SliceRule>(*context);
    PadOp::attachInterface<PadRule>(*context);
    ReverseOp::attachInterface<ReverseRule>(*context);
    ConcatenateOp::attachInterface<ConcatenateRule>(*context);
    IotaOp::attachInterface<IotaRule>(*context);
    SummandsOp::attachInterface<SummandsRule>(*context);
    DynamicSliceOp::attachInterface<DynamicSliceRule>(*context);
    DynamicUpdateSliceOp::attachInterface<DynamicUpdateSliceRule>(*context);
  });
}
