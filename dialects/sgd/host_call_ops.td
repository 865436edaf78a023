// Calls of functions of the process that runs the program, such as the Python functions of jax.debug.print.
#ifndef SGD_DIALECTS_SGD_HOST_CALL_OPS_TD
#define SGD_DIALECTS_SGD_HOST_CALL_OPS_TD

include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sgd_HostResource : Resource<"::mlir::sgd::HostResource">;

def Sgd_HostCallOp : Sgd_Op<"host_call", [AttrSizedOperandSegments, MemoryEffects<[MemRead<Sgd_HostResource>, MemWrite<Sgd_HostResource>]>]> {
  let summary = "Calls a function of the process that runs the program, with the operands' values";
  let description = [{
    The process registers a handler, which gets `id`, the name and the values, and fills the results. Its effects keep the call where it is: it
    is neither removed nor merged, and calls run in program order.

    - By default the operands are whole, rank 0 calls, and all ranks get its results.
    - With `each_rank`, every rank calls with its own values. The first `coordinates` dimensions of all tensors are mesh axes that number the
      ranks, as `sgd-expand-manual` makes them; they become local and are not part of the values.

    `when` has the coordinates as its shape. A rank whose element is false does not call, and its results are zeros.

    ```mlir
    sgd.host_call "jax.debug.print" 7(%x) : (tensor<8x16xf32>) -> ()
    %0 = sgd.host_call "jax.pure_callback" 8 each_rank coordinates 1 when %flag : tensor<4xi1>(%y) : (tensor<4x16xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Optional<AnyRankedTensor>:$when, StrAttr:$callee, I64Attr:$id, UnitAttr:$each_rank,
    DefaultValuedAttr<I64Attr, "0">:$coordinates);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee $id (`each_rank` $each_rank^)? (`coordinates` $coordinates^)? (`when` $when^ `:` type($when))? `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif
