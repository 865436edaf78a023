// Ops that become kernels.
#ifndef SGD_DIALECTS_FUSION_CLUSTER_OPS_TD
#define SGD_DIALECTS_FUSION_CLUSTER_OPS_TD

include "dialects/fusion/fusion_dialect.td"
include "dialects/sgd/scalar_body.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Fusion_YieldOp : Fusion_Op<"yield", [Pure, Terminator, ParentOneOf<["ClusterOp", "SortRowsOp"]>]> {
  let summary = "Results of the enclosing region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Fusion_ClusterOp : Fusion_Op<"cluster", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A fusion: ops that become one kernel; block arguments are the operands, yielded values the results";
  let description = [{
    Within it ops are still on tensors; code generation computes the yielded values element by element, with no tensor in between in memory.
    A yielded dynamic_update_slice of an input that nothing else in the cluster reads overwrites that input: only the update is computed.

    ```mlir
    %1 = fusion.cluster(%x, %y) {
    ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %0 = arith.mulf %a, %b : tensor<8xf32>
      %2 = math.exp %0 : tensor<8xf32>
      fusion.yield %2 : tensor<8xf32>
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
    ::mlir::sgd::DynamicUpdateSliceOp getUpdate(unsigned result);
    /// The number of that input.
    unsigned getUpdatedInput(unsigned result);
  }];
}

def Fusion_TiledOp : Fusion_Op<"tiled", [Pure, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "Matmuls and clusters computed tile by tile: values between them never have their full size in memory";
  let description = [{
    The body runs once for each combination of indices of `loops`, in any order. `cuts` says, for each operand and then each result, which of
    its dimensions each loop cuts, or -1: a block argument is the part of its operand that belongs to the indices, cut dimensions being of
    size 1. Every loop cuts every result. `fusion.tile_store` writes to a result's part; the body stores all of it.

    ```mlir
    %o = fusion.tiled(%q, %k) loops [8] cuts [0, 0, 0] {
    ^bb0(%a: tensor<1x64x16xf32>, %b: tensor<1x64x16xf32>):
      %s = fusion.matmul %a [0, 1, 2], %b [0, 3, 2] into [0, 1, 3] : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x64xf32>
      %c = fusion.matmul %s [0, 1, 2], %b [0, 2, 3] into [0, 1, 3] : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
      fusion.tile_store %c to 0 at [0, 0, 0] : tensor<1x64x16xf32>
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
    /// The part of an operand or result that one run of the body reads or writes.
    RankedTensorType getInputTile(unsigned input);
    RankedTensorType getResultTile(unsigned result);
    /// How often the body runs.
    int64_t getNumTiles();
  }];
}

def Fusion_TileStoreOp : Fusion_Op<"tile_store", [HasParent<"TiledOp">, MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a value to the tile of result `result` from `starts` on, or adds it to what was stored there";
  let description = [{
    The value is the result of a matmul or cluster of the body, stored once. `add` accumulates onto earlier stores of a
    matmul. Example: see `fusion.tiled`.
  }];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$result, DenseI64ArrayAttr:$starts, UnitAttr:$add);
  let assemblyFormat = "$value `to` $result `at` $starts (`add` $add^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Fusion_SortRowsOp : Fusion_Op<"sort_rows", [Pure, IsolatedFromAbove, SingleBlock, Sgd_HasScalarBody]> {
  let summary = "A sort along the last dimension with its working memory: the form that becomes a kernel";
  let description = [{
    As `sgd.sort` of the last dimension. The results are those of the sort, then as many again of the same types, which are working memory for merging rows and hold nothing of
    use afterwards. Created by `sgd-lower-sorts`.

    ```mlir
    %1:2 = fusion.sort_rows(%x) {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      fusion.yield %less : i1
    } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let assemblyFormat = "`(` $inputs `)` $comparator attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
}

#endif
