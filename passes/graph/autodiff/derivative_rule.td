// The interface through which an op tells how gradients go through it.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_TD
#define SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_TD

include "mlir/IR/OpBase.td"

def Sgd_DerivativeRuleOpInterface : OpInterface<"DerivativeRuleOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    Reverse mode: a rule turns the gradients of results into gradients of operands. The files of this folder attach models, one file per family
    of ops. Ops without float operands or results need none.
  }];
  let methods = [
    InterfaceMethod<[{
      Adds the contributions of `gradients` to the operands that `pullback` needs. `gradients` has one entry per result, null for zero; at least one
      is not null. Fails with a diagnostic if this op has no derivative.
    }], "::llvm::LogicalResult", "pull", (ins "::llvm::ArrayRef<::mlir::Value>":$gradients, "::mlir::sgd::Pullback&":$pullback)>
  ];
}

#endif
