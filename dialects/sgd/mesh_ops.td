// Meshes and shardings, and computations that see one rank's part.
#ifndef SGD_DIALECTS_SGD_MESH_OPS_TD
#define SGD_DIALECTS_SGD_MESH_OPS_TD

include "dialects/sgd/data_flow.td"
include "dialects/sgd/linear_op.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Sgd_MeshOp : Sgd_Op<"mesh", [Symbol]> {
  let summary = "Names a mesh";
  let description = [{ `sgd.mesh @mesh = <["data"=4, "model"=2]>` }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sgd_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
  let hasVerifier = 1;
}

def Sgd_ShardingConstraintOp : Sgd_Op<"sharding_constraint", [Pure, SameOperandsAndResultType, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "The user's annotation of how its operand is sharded; the value is unchanged";
  let description = [{
    Closed dimensions (`{"data"}`, `{}`) are final; open ones (`{?}`) may still be sharded by propagation. The op is gone after `sgd-shard`.

    ```mlir
    %1 = sgd.sharding_constraint %0 <@mesh, [{"data"}, {?} ]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_Sharding:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sgd_ReshardOp : Sgd_Op<"reshard", [Pure, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "A change of sharding; the global value is unchanged";
  let description = [{
    The only op whose operand and result differ in encoding alone. A partial operand with a result that is not partial is a reduction.
    The reshard planner turns it into collectives. Here a sum over "data" that has not been taken becomes rows over "data": a
    reduce-scatter.

    ```mlir
    %1 = sgd.reshard %0 : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {} ], unreduced={"data"}>>
                       -> tensor<8x16xf32, #sgd.sharding<@mesh, [{"data"}, {} ]>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Sgd_SummandsOp : Sgd_Op<"summands", [Pure]> {
  let summary = "Slices along a new leading dimension whose sum is the operand";
  let description = [{
    Which summands these are is left to partitioning. With the leading dimension over mesh axes, each rank's slice is the summand that it
    holds of an operand that is partial over them: nothing moves. Of any other operand, one rank has the value, or each has its
    shard of it, and the rest is zero. On one rank the first slice is the operand.

    Sums are what a program has inside; the slices are what leaves it, or enters a manual computation, where an array is unreduced.

    ```mlir
    %1 = sgd.summands %0 : tensor<8x16xf32> -> tensor<4x8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Sgd_ManualComputationOp : Sgd_Op<"manual_computation",
    [IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<Sgd_DataFlowOpInterface>]> {
  let summary = "A body written for what one rank holds along the manual axes, with its collectives: jax.shard_map";
  let description = [{
    Each operand is cut as its sharding says along the manual axes; block arguments have the shapes of these parts. The body may hold
    `spmd` collectives and `sgd.permute_ranks` over manual axes. Yielded values are assembled as the sharding of each result says;
    along manual axes that this does not name, ranks should agree, and the first one's value counts. An operand that is unreduced over
    manual axes enters as each rank's summand; of a result that is, the yielded values are the summands. Along other axes shapes are
    whole and shardings are propagated as anywhere. The op is gone after `sgd-expand-manual`.

    ```mlir
    %1 = sgd.manual_computation(%0) in [#sgd.sharding<@mesh, [{"x"}, {?} ]>] out [#sgd.sharding<@mesh, [{?} ]>] over <@mesh, {"x"}> {
    ^bb0(%a: tensor<2x16xf32>):
      %s = sgd.reduce add %a dimensions = [0] : tensor<2x16xf32> -> tensor<16xf32>
      %t = spmd.all_reduce add(%s) <@mesh, {"x"}> : (tensor<16xf32>) -> tensor<16xf32>
      sgd.yield %t : tensor<16xf32>
    } : (tensor<8x16xf32>) -> tensor<16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, TypedArrayAttrBase<Sgd_Sharding, "shardings">:$in_shardings,
    TypedArrayAttrBase<Sgd_Sharding, "shardings">:$out_shardings, Sgd_AxisList:$manual_axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `in` $in_shardings `out` $out_shardings `over` $manual_axes $body attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def Sgd_PermuteRanksOp : Sgd_Op<"permute_ranks", [Pure, SameOperandsAndResultType]> {
  let summary = "Ranks send along pairs of linear indices over the axes; who receives nothing has zeros. Only in manual computations";
  let description = [{
    Each rank of the group to the next, the last one to none:

    ```mlir
    %1 = sgd.permute_ranks %0 pairs = [0, 1, 1, 2, 2, 3] over <@mesh, {"x"}> : tensor<2x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$pairs, Sgd_AxisList:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `pairs` `=` $pairs `over` $axes attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif
