// Batching rules: how each op of a manual computation acts on batched values.
#ifndef SGD_PASSES_SHARDING_MANUAL_BATCH_RULE_H
#define SGD_PASSES_SHARDING_MANUAL_BATCH_RULE_H

#include "passes/sharding/manual/batched.h"

#include "passes/sharding/manual/batch_rule.h.inc"

namespace mlir::sgd {

/// Gives `Op` the rule `rule`, which takes (Op, ArrayRef<Batched>, BatchBuilder&) and returns the Batched of the one
/// result, or a SmallVector<Batched> of all.
template <typename Op, auto rule, bool isCollective = false>
void attachBatchRule(MLIRContext& context) {
  struct Model : BatchRuleOpInterface::template ExternalModel<Model, Op> {
    SmallVector<Batched> batch(Operation* op, ArrayRef<Batched> operands, BatchBuilder& builder) const {
      return {rule(cast<Op>(op), operands, builder)};
    }
    bool isBetweenRanks(Operation*) const { return isCollective; }
  };
  Op::template attachInterface<Model>(context);
}

/// Attaches all rules of this folder to ops of the contexts of `registry`.
void registerBatchRules(DialectRegistry& registry);

/// Ops that move elements: the numbers of dimensions in their attributes move up.
void attachMovementBatchRules(MLIRContext& context);
/// Ops on rows or matrices, of which there are more: reductions, sorts, cumulative ops, linear algebra, grouped dots.
void attachRowBatchRules(MLIRContext& context);
/// Gather, scatter and dynamic slices.
void attachIndexedBatchRules(MLIRContext& context);
/// Matmuls and convolutions.
void attachContractionBatchRules(MLIRContext& context);
/// Ops of the graph level through which ranks exchange values.
void attachRankBatchRules(MLIRContext& context);
/// Those of the SPMD level.
void attachCollectiveBatchRules(MLIRContext& context);

/// The value of the first rank along `axes`.
Batched takeFirst(Location loc, const Batched& input, ArrayRef<unsigned> axes, BatchBuilder& batch,
                  bool isUniform = false);

/// The axes over which any of `operands` differs.
AxisIndices uniteAxes(ArrayRef<Batched> operands);

/// The values of `operands`, each with `axes`.
SmallVector<Value> spreadAll(Location loc, ArrayRef<Batched> operands, ArrayRef<unsigned> axes, BatchBuilder& batch);

/// The op on other operands; results have their types behind leading dimensions of `axes`.
Operation* cloneWith(Operation* op, ValueRange operands, ArrayRef<unsigned> axes, BatchBuilder& batch);

/// 0, ..., count - 1, then `values` moved up by `count`: dimensions behind new leading ones.
SmallVector<int64_t> behind(int64_t count, ArrayRef<int64_t> values);
/// `values` moved up by `count`.
SmallVector<int64_t> shifted(int64_t count, ArrayRef<int64_t> values);
/// `count` times `value`, then `values`.
SmallVector<int64_t> prefixed(int64_t count, int64_t value, ArrayRef<int64_t> values);

}  // namespace mlir::sgd

#endif
