// What becomes a kernel.
#ifndef SGD_DIALECTS_SGD_CLUSTER_OPS_TD
#define SGD_DIALECTS_SGD_CLUSTER_OPS_TD

include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Sgd_YieldOp : Sgd_Op<"yield", [Pure, Terminator, ParentOneOf<["ClusterOp", "ManualComputationOp", "SortOp", "SortRowsOp", "WhileOp", "CaseOp"]>]> {
  let summary = "Results of the enclosing region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Sgd_ClusterOp : Sgd_Op<"cluster", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that become one kernel: block arguments are the operands, the yielded values are the results";
  let description = [{
    Within it ops are still on tensors; code generation computes the yielded values element by element, with no tensor in between in memory.
    A yielded dynamic_update_slice of an input that nothing else in the cluster reads is written over that input: only the update is computed.

    ```mlir
    %1 = sgd.cluster(%x, %y) {
    ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %0 = arith.mulf %a, %b : tensor<8xf32>
      %2 = math.exp %0 : tensor<8xf32>
      sgd.yield %2 : tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` $body attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dynamic_update_slice that result `result` is, when it is written over the input that it updates; else null.
    DynamicUpdateSliceOp getUpdate(unsigned result);
    /// The number of that input.
    unsigned getUpdatedInput(unsigned result);
  }];
}

def Sgd_TiledOp : Sgd_Op<"tiled", [Pure, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "Contractions and clusters computed tile by tile: what lies between them never has its full size in memory";
  let description = [{
    The body runs once for each combination of indices of `loops`, in any order. `cuts` says, for each operand and then each result, which of
    its dimensions each loop cuts, or -1: a block argument is the part of its operand that belongs to the indices, cut dimensions being of
    size 1. Every loop cuts every result. `sgd.tile_store` writes to a result's part; the body stores all of it.

    ```mlir
    %o = sgd.tiled(%q, %k) loops [8] cuts [0, 0, 0] {
    ^bb0(%a: tensor<1x64x16xf32>, %b: tensor<1x64x16xf32>):
      %s = sgd.contract %a [0, 1, 2], %b [0, 3, 2] into [0, 1, 3] : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x64xf32>
      %c = sgd.contract %s [0, 1, 2], %b [0, 2, 3] into [0, 1, 3] : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
      sgd.tile_store %c to 0 at [0, 0, 0] : tensor<1x64x16xf32>
    } : (tensor<8x64x16xf32>, tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DenseI64ArrayAttr:$loops, DenseI64ArrayAttr:$cuts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` `loops` $loops `cuts` $cuts $body attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimension of an operand or result that each loop cuts, or -1.
    ArrayRef<int64_t> getInputCuts(unsigned input);
    ArrayRef<int64_t> getResultCuts(unsigned result);
    /// What one run of the body sees of an operand or result.
    RankedTensorType getInputTile(unsigned input);
    RankedTensorType getResultTile(unsigned result);
    /// How often the body runs.
    int64_t getNumTiles();
  }];
}

def Sgd_TileStoreOp : Sgd_Op<"tile_store", [HasParent<"TiledOp">, MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a value to the tile of result `result` from `starts` on, or adds it to what was stored there";
  let description = [{
    The value is the result of a contraction or cluster of the body, stored once. `add` adds to what earlier stores of a contraction have
    put there. Example: see `sgd.tiled`.
  }];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$result, DenseI64ArrayAttr:$starts, UnitAttr:$add);
  let assemblyFormat = "$value `to` $result `at` $starts (`add` $add^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif
