// The interface through which an op tells how its operands' and results' dimensions belong together.
#ifndef SGD_DIALECTS_SGD_SHARDING_RULE_TD
#define SGD_DIALECTS_SGD_SHARDING_RULE_TD

include "mlir/IR/OpBase.td"

def Sgd_ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    An op's sharding rule: an einsum-like map from the dimensions of operands and results to factors. Propagation, the choice of
    reshards and localisation read nothing else. Implementations are attached as external models (`passes/sharding/propagation`), so that the
    dialects stay free of them.
  }];
  let methods = [InterfaceMethod<[{
    The rule for this op with its present shapes; encodings are not looked at.
  }], "::mlir::sgd::ShardingRule", "getShardingRule">];
}

#endif
