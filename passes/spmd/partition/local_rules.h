// Ops whose attributes or values depend on shapes: how each is rewritten for one shard. All other ops only change their
// types.
#ifndef SGD_PASSES_SPMD_PARTITION_LOCAL_RULES_H
#define SGD_PASSES_SPMD_PARTITION_LOCAL_RULES_H

#include "passes/spmd/partition/reshard_emitter.h"

namespace mlir::sgd {

/// An op about to become local: it has passed `checkFitsRule`; `globalTypes` are the types of its operands before
/// localisation.
struct LocalisedOp {
  Operation* op;
  ArrayRef<RankedTensorType> globalOperands;
  ArrayRef<RankedTensorType> globalResults;
  ArrayRef<RankedTensorType> localResults;
};

}  // namespace mlir::sgd

#include "passes/spmd/partition/local_rule.h.inc"

namespace mlir::sgd {

/// By the op's rule, or by a change of types where it has none; returns what `LocalRuleOpInterface::localize` does.
FailureOr<Value> localizeOp(const LocalisedOp& localised, ReshardEmitter& emitter);

/// Gives `Op` the rule `rule`.
template <typename Op, FailureOr<Value> (*rule)(Op, const LocalisedOp&, ReshardEmitter&)>
void attachLocalRule(MLIRContext& context) {
  struct Model : LocalRuleOpInterface::template ExternalModel<Model, Op> {
    FailureOr<Value> localize(Operation* op, const LocalisedOp& localised, ReshardEmitter& emitter) const {
      return rule(cast<Op>(op), localised, emitter);
    }
  };
  Op::template attachInterface<Model>(context);
}

/// Attaches all rules of this folder to ops of `context`, in which the dialects are loaded.
void registerLocalRules(DialectRegistry& registry);

/// slice, pad, concatenate, reverse: along a sharded dimension each is replaced by ranges of it, and stays itself on
/// the others.
void attachMovementRules(MLIRContext& context);
/// Reshapes. Where the tiles of a merged or split dimension differ between the two sides, ranks fetch the elements that
/// they lack. Fails with a diagnostic when elements are not on the ranks in the same order on both sides.
void attachReshapeRules(MLIRContext& context);
/// Convolutions get the part of the lhs that a rank's windows cover: halos where the result is sharded, the elements
/// that meet its part of the rhs where that is (the result is then partial).
void attachConvolutionRules(MLIRContext& context);
/// Cumulative ops, sharded or not, become combinations of shifted values; along a sharded dimension the ranks' totals
/// are gathered, and each rank combines those before it with its own results.
void attachCumulativeRules(MLIRContext& context);

/// Ops that read or write at run-time indices: where an indexed dimension is sharded, indices become local and elements
/// on other ranks are masked. Sizes are global, so that clamping and dropping are those of the whole op, and tiles
/// may be uneven. Reads give partial values over the axes of the indexed dimension (reduced by addition, booleans by
/// or); each rank does those writes that fall into its shard.
void attachGatherRules(MLIRContext& context);
void attachScatterRules(MLIRContext& context);
void attachDynamicSliceRules(MLIRContext& context);

}  // namespace mlir::sgd

#endif
