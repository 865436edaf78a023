// Derivative rules: how gradients go through each op of the graph level.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_H
#define SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_H

#include "passes/graph/autodiff/pullback.h"

#include "passes/graph/autodiff/derivative_rule.h.inc"

namespace mlir::sgd {

/// Gives `Op`, of one result, the rule `rule`, which takes (Op, gradient of the result, Pullback&) and returns nothing,
/// or a LogicalResult.
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

/// Likewise for ops of several results: the rule takes (Op, ArrayRef of gradients, Pullback&) and returns a
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

/// Attaches all rules of this folder to ops of the contexts of `registry`.
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

/// Whether the op of this name is flat wherever it has a derivative: no gradient goes through it.
bool isFlat(StringRef op);

}  // namespace mlir::sgd

#endif
