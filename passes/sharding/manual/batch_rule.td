// The interface through which an op tells how it is computed for all ranks of a manual computation at once.
#ifndef SGD_PASSES_SHARDING_MANUAL_BATCH_RULE_TD
#define SGD_PASSES_SHARDING_MANUAL_BATCH_RULE_TD

include "mlir/IR/OpBase.td"

def Sgd_BatchRuleOpInterface : OpInterface<"BatchRuleOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    How an op of a manual computation acts on batched values, as a batching rule of `vmap` says. Elementwise ops need none. Models are
    attached to ops by the files of this folder, one per family, when `sgd-expand-manual` is run.
  }];
  let methods = [
    InterfaceMethod<"Builds the op on `operands`; one batched value per result.", "::llvm::SmallVector<::mlir::sgd::Batched>", "batch",
      (ins "::llvm::ArrayRef<::mlir::sgd::Batched>":$operands, "::mlir::sgd::BatchBuilder&":$builder)>,
    InterfaceMethod<"Ranks exchange values, so that the rule holds for values that are equal on all of them too.", "bool", "isBetweenRanks">
  ];
}

#endif
