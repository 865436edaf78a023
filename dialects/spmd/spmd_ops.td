// The SPMD level's own ops: collectives over groups given as mesh axes, and the rank's coordinates.
#ifndef SGD_DIALECTS_SPMD_OPS_TD
#define SGD_DIALECTS_SPMD_OPS_TD

include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Spmd_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::mlir::spmd";
  let summary = "The SPMD level: what one rank computes, on local shapes, and the collectives between ranks";
  let description = [{
    Groups are mesh axes (`#sgd.axes<@mesh, {"data"}>`), never lists of ranks, so that the program does not grow with the mesh and is the
    same for every rank. `spmd.partition_id` is the only value that differs between ranks without communication. Collectives are free of
    side effects here: equal ones merge and unused ones disappear, on all ranks alike. Only messages between the stages of a pipeline
    (`spmd.send`, `spmd.receive`), whose programs differ, have effects.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

class Spmd_Op<string mnemonic, list<Trait> traits = []> : Op<Spmd_Dialect, mnemonic, traits # [Pure]>;

def Spmd_PartitionIdOp : Spmd_Op<"partition_id"> {
  let summary = "The rank's linear index over the axes, first axis slowest";
  let description = [{
    ```mlir
    %0 = spmd.partition_id <@mesh, {"data"}> : tensor<i32>
    ```
  }];
  let arguments = (ins Sgd_AxisList:$axes);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let assemblyFormat = "$axes attr-dict `:` type($result)";
}

def Spmd_ShardSliceOp : Spmd_Op<"shard_slice"> {
  let summary = "This rank's part of a value that all ranks of the group hold: dimension `dim` cut in as many parts as the group has ranks";
  let description = [{
    No communication. Over 4 ranks:

    ```mlir
    %1 = spmd.shard_slice %0 dim = 0 <@mesh, {"data"}> : tensor<8x16xf32> -> tensor<2x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, Sgd_AxisList:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` `=` $dim $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Spmd_AllReduceOp : Spmd_Op<"all_reduce"> {
  let summary = "Combines the group's operands elementwise; several operands are one bucket, sent together";
  let description = [{
    All ranks receive the same bits.

    ```mlir
    %1:2 = spmd.all_reduce add(%w, %b) <@mesh, {"data"}> : (tensor<16x32xf32>, tensor<32xf32>) -> (tensor<16x32xf32>, tensor<32xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Sgd_ReduceKind:$kind, Sgd_AxisList:$axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kind `(` $inputs `)` $axes attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def Spmd_AllGatherOp : Spmd_Op<"all_gather"> {
  let summary = "Joins the group's operands along `dims[i]` in the order of the group";
  let description = [{
    Over 4 ranks:

    ```mlir
    %1 = spmd.all_gather(%0) dims = [0] <@mesh, {"data"}> : (tensor<2x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DenseI64ArrayAttr:$dims, Sgd_AxisList:$axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $inputs `)` `dims` `=` $dims $axes attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def Spmd_ReduceScatterOp : Spmd_Op<"reduce_scatter"> {
  let summary = "Combines the group's operands elementwise; each rank keeps its part of dimension `dims[i]`";
  let description = [{
    Over 4 ranks:

    ```mlir
    %1 = spmd.reduce_scatter add(%0) dims = [0] <@mesh, {"data"}> : (tensor<8x16xf32>) -> tensor<2x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Sgd_ReduceKind:$kind, DenseI64ArrayAttr:$dims, Sgd_AxisList:$axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kind `(` $inputs `)` `dims` `=` $dims $axes attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def Spmd_AllToAllOp : Spmd_Op<"all_to_all"> {
  let summary = "Cuts dimension `split` in as many parts as the group has ranks, sends part i to rank i, joins what arrives along `concat`";
  let description = [{
    From rows to columns over 4 ranks:

    ```mlir
    %1 = spmd.all_to_all %0 split = 1 concat = 0 <@mesh, {"data"}> : tensor<2x16xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$split, I64Attr:$concat, Sgd_AxisList:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `split` `=` $split `concat` `=` $concat $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Spmd_CollectivePermuteOp : Spmd_Op<"collective_permute", [SameOperandsAndResultType]> {
  let summary = "The rank whose linear index over `from` is i sends to the rank whose linear index over `to` is i";
  let description = [{
    `from` and `to` cover the same parts of the same axes in different order.

    ```mlir
    %1 = spmd.collective_permute %0 from <@mesh, {"data", "model"}> to <@mesh, {"model", "data"}> : tensor<2x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_AxisList:$from, Sgd_AxisList:$to);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($input)";
}

def Spmd_GatherRangeOp : Spmd_Op<"gather_range"> {
  let summary = "A range of a dimension of which every rank of the group holds a tile; several operands are one bucket";
  let description = [{
    Along `ranges[i].dim`, operand i on the rank with linear index t over `axes` is tile t: with c the operand's size there, the elements
    [t * c, min((t + 1) * c, size)) of a dimension of `size` elements. The rest of a tile is padding, which nothing reads. The result on the
    rank with linear index j over `to` begins at element floor((scale * j + offset) / divisor), takes every `step`-th, and is zero where it
    reaches outside of [0, size). Every rank copies exactly what it needs from the ranks that differ from it only on `axes`. `to` may be any
    axes: halos, shifts, strided slices and changes of uneven tiles are all ranges.

    A halo of one row on both sides, of 10 rows on 4 ranks:

    ```mlir
    %1 = spmd.gather_range(%0) ranges = [#sgd.range<dim = 0, size = 10, scale = 3, offset = -1>] <@mesh, {"x"}> to <@mesh, {"x"}>
      : (tensor<3x16xf32>) -> tensor<5x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, TypedArrayAttrBase<Sgd_Range, "ranges">:$ranges, Sgd_AxisList:$axes, Sgd_AxisList:$to);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $inputs `)` `ranges` `=` $ranges $axes `to` $to attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def Spmd_BroadcastOp : Spmd_Op<"broadcast", [SameOperandsAndResultType]> {
  let summary = "The operand of the group's first rank";
  let description = [{
    ```mlir
    %1 = spmd.broadcast %0 <@mesh, {"data"}> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_AxisList:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $axes attr-dict `:` type($input)";
}

// Channels ------------------------------------------------------------------------------------------------------------
// Messages between the stages of a pipeline. Their effects keep them where they are: none is removed, merged or moved before another.

def Spmd_ChannelResource : Resource<"::mlir::spmd::ChannelResource">;

class Spmd_ChannelOp<string mnemonic> : Op<Spmd_Dialect, mnemonic, [MemoryEffects<[MemRead<Spmd_ChannelResource>, MemWrite<Spmd_ChannelResource>]>]> {
  let hasVerifier = 1;
}

def Spmd_SendOp : Spmd_ChannelOp<"send"> {
  let summary = "Puts a message into a channel to the rank of another stage that has the same coordinates otherwise";
  let description = [{
    A channel is a FIFO from one stage to another. Its messages have one type; it has room for `depth` of them. A send waits while there are so
    many that were not received yet, and for nothing else. Channels of one program are numbered from 0; each is sent to by one stage and received
    from by one other.

    ```mlir
    spmd.send %0 to stage 1 channel 3 depth 2 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$stage, I64Attr:$channel, DefaultValuedAttr<I64Attr, "1">:$depth);
  let assemblyFormat = "$input `to` `stage` $stage `channel` $channel (`depth` $depth^)? attr-dict `:` type($input)";
}

def Spmd_ReceiveOp : Spmd_ChannelOp<"receive"> {
  let summary = "The next message of a channel; waits for it";
  let description = [{
    ```mlir
    %0 = spmd.receive channel 3 from stage 0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins I64Attr:$channel, I64Attr:$stage);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`channel` $channel `from` `stage` $stage attr-dict `:` type($result)";
}

#endif
