// Derivative rules: how gradients go through each op of the graph level.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_H
#define SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_H

#include "passes/graph/autodiff/pullback.h"

#include "passes/graph/autodiff/derivative_rule.h.inc"

namespace mlir::sgd {

/// Attaches `rule` to an op with one result. The rule takes (Op, gradient of the result, Pullback&) and returns void or
/// LogicalResult.
template <typename Op, auto rule>
void attachDerivative(MLIRContext& context) {
  struct Model : DerivativeRuleOpInterface::template ExternalModel<Model, Op> {
    LogicalResult pull(Operation* op, ArrayRef<Value> gradients, Pullback& pullback) const {
      if constexpr (std::is_void_v<decltype(rule(cast<Op>(op), gradients.front(), pullback))>) {
        rule(cast<Op>(op), gradients.front(), pullback);
        return success();
      } else {
        return rule(cast<Op>(op), gradients.front(), pullback);
      }
    }
  };
  Op::template attachInterface<Model>(context);
}

/// Attaches `rule` to an op with several results. The rule takes (Op, ArrayRef of gradients, Pullback&) and returns
/// LogicalResult.
template <typename Op, auto rule>
void attachDerivatives(MLIRContext& context) {
  struct Model : DerivativeRuleOpInterface::template ExternalModel<Model, Op> {
    LogicalResult pull(Operation* op, ArrayRef<Value> gradients, Pullback& pullback) const {
      return rule(cast<Op>(op), gradients, pullback);
    }
  };
  Op::template attachInterface<Model>(context);
}

/// Attaches all rules of this folder when a context of `registry` loads the dialects.
void registerDerivativeRules(DialectRegistry& registry);

/// Ops of arith and math.
void attachElementwiseDerivatives(MLIRContext& context);
/// Ops that move elements.
void attachMovementDerivatives(MLIRContext& context);
/// Gather, scatter and dynamic slices.
void attachIndexedDerivatives(MLIRContext& context);
/// Matmuls, convolutions, reductions.
void attachContractionDerivatives(MLIRContext& context);
/// Sorts, the largest elements, cumulative ops.
void attachOrderDerivatives(MLIRContext& context);
/// Loops and branches.
void attachControlFlowDerivatives(MLIRContext& context);
void attachLinearAlgebraDerivatives(MLIRContext& context);

/// Returns whether the op of this name has a zero derivative wherever it has one, as comparisons and roundings do.
bool isFlat(StringRef op);

}  // namespace mlir::sgd

#endif
