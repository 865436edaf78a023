// Calls of functions of the process that runs the program. A file of its own: few read it.
#ifndef SGD_DIALECTS_PLAN_HOST_CALL_OPS_TD
#define SGD_DIALECTS_PLAN_HOST_CALL_OPS_TD

include "dialects/plan/plan_ops.td"

def Plan_HostResource : Resource<"::mlir::sgd::HostResource">;

def Plan_HostCallOp : Plan_Instruction<"host_call", [AttrSizedOperandSegments, MemoryEffects<[MemRead<Plan_HostResource>, MemWrite<Plan_HostResource>]>]> {
  let summary = "Calls the function of the process that `id` names";
  let description = [{
    As `sgd.host_call`. Without `each_rank` only rank 0 calls. The outputs of a rank that does not call are zeros.

    ```mlir
    plan.host_call "jax.debug.print" 7 ins(%x : memref<8x16xf32, #plan.space<private>>) outs()
    ```
  }];
  let arguments = (ins Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs, Arg<Variadic<Plan_Buffer>, "", [Plan_Overwrite]>:$outputs,
    Arg<Optional<Plan_Buffer>, "", [MemRead]>:$when, StrAttr:$callee, I64Attr:$id, UnitAttr:$each_rank);
  let assemblyFormat = [{
    $callee $id (`each_rank` $each_rank^)? (`when` `(` $when^ `:` type($when) `)`)? `ins` `(` ($inputs^ `:` type($inputs))? `)`
    `outs` `(` ($outputs^ `:` type($outputs))? `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Transfer; }
  }];
}

#endif
