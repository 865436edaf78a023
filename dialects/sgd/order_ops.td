// Ops that depend on the order of elements, and of ops.
#ifndef SGD_DIALECTS_SGD_ORDER_OPS_TD
#define SGD_DIALECTS_SGD_ORDER_OPS_TD

include "dialects/sgd/data_flow.td"
include "dialects/sgd/scalar_body.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Sgd_SortOp : Sgd_Op<"sort", [Pure, IsolatedFromAbove, SingleBlock, Sgd_HasScalarBody]> {
  let summary = "Orders the operands' elements along `dimension` together, by a comparator; stable";
  let description = [{
    The operands have one shape; element i of each is one tuple, and result k holds operand k's part of the ordered tuples. The
    comparator is a block of scalar ops: its arguments are the first operand's element of either tuple, then the second's, ...; it yields whether
    the first tuple must come before the second. Tuples of which neither must come first keep their order.

    Keys with their values, ascending:

    ```mlir
    %1:2 = sgd.sort(%keys, %values) dimension = 1 {
    ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
      %less = arith.cmpf olt, %a, %b : f32
      sgd.yield %less : i1
    } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let assemblyFormat = "`(` $inputs `)` `dimension` `=` $dimension $comparator attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
}

def Sgd_TopKOp : Sgd_Op<"top_k", [Pure]> {
  let summary = "The `k` largest elements of each row (the last dimension), largest first, and their positions";
  let description = [{
    Of equal elements the one with the smaller position comes first. Floats are in total order: NaN with a clear sign bit is the largest, -0 is
    less than +0. Integers are signed without `unsigned_elements`.

    ```mlir
    %values, %positions = sgd.top_k %scores k = 2 : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$k, UnitAttr:$unsigned_elements);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$positions);
  let assemblyFormat = "$input `k` `=` $k attr-dict `:` functional-type($input, results)";
  let hasVerifier = 1;
}

def Sgd_CumulativeOp : Sgd_Op<"cumulative", [Pure, SameOperandsAndResultType]> {
  let summary = "Each element combined with all before it along `dimension`, or with all behind it when `reverse`";
  let description = [{
    bf16 and f16 sums accumulate in f32 and round once. Exists until `sgd-lower-scans`.

    ```mlir
    %1 = sgd.cumulative add %0 dimension = 0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_ReduceKind:$kind, I64Attr:$dimension, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `dimension` `=` $dimension (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sgd_OptimizationBarrierOp : Sgd_Op<"optimization_barrier",
    [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<Sgd_DataFlowOpInterface>]> {
  let summary = "Operands unchanged; nothing is moved or merged across it";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif
