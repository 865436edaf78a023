// The interface through which an op tells how gradients go through it.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_TD
#define SGD_PASSES_GRAPH_AUTODIFF_DERIVATIVE_RULE_TD

include "mlir/IR/OpBase.td"

def Sgd_DerivativeRuleOpInterface : OpInterface<"DerivativeRuleOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    Reverse mode: gradients of results become gradients of operands. Models are attached to ops by the files of this folder, one per
    family. An op without floats among operands or results needs none.
  }];
  let methods = [
    InterfaceMethod<[{
      Adds to the gradients of the operands that `pullback` asks for what comes from `gradients`, one per result, null where a result's is zero;
      one is not. Fails with a diagnostic where the op, as it is, has no derivative.
    }], "::llvm::LogicalResult", "pull", (ins "::llvm::ArrayRef<::mlir::Value>":$gradients, "::mlir::sgd::Pullback&":$pullback)>
  ];
}

#endif
