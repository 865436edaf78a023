// The interface through which an op tells how it is rewritten for one shard.
#ifndef SGD_PASSES_SPMD_PARTITION_LOCAL_RULE_TD
#define SGD_PASSES_SPMD_PARTITION_LOCAL_RULE_TD

include "mlir/IR/OpBase.td"

def Sgd_LocalRuleOpInterface : OpInterface<"LocalRuleOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    How an op whose attributes or values depend on shapes becomes local. All other ops only change their types. Models are attached to ops
    by the files of this folder, one per family, when `sgd-localize` is run.
  }];
  let methods = [InterfaceMethod<[{
    Gives the op its local attributes and result types, in place. Some ops need others behind them: then the value to which the uses of
    the op's result were redirected is returned, else null.
  }], "::mlir::FailureOr<::mlir::Value>", "localize",
    (ins "const ::mlir::sgd::LocalisedOp&":$localised, "::mlir::sgd::ReshardEmitter&":$emitter)>];
}

#endif
