// Ops that move elements.
#ifndef SGD_DIALECTS_SGD_INDEX_OPS_TD
#define SGD_DIALECTS_SGD_INDEX_OPS_TD

include "dialects/sgd/linear_op.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Sgd_BroadcastInDimOp : Sgd_Op<"broadcast_in_dim", [Pure, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "Operand dimension i becomes result dimension dims[i]; dimensions of size 1 and new ones are repeated";
  let description = [{
    A bias of 16 elements in each of 8 rows:

    ```mlir
    %1 = sgd.broadcast_in_dim %0 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dims` `=` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_TransposeOp : Sgd_Op<"transpose", [Pure, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "Result dimension i is operand dimension permutation[i]";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `permutation` `=` $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_ReshapeOp : Sgd_Op<"reshape", [Pure, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "Same elements in row-major order, other dimensions";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_SliceOp : Sgd_Op<"slice", [Pure, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "Elements starts, starts + strides, ... below limits";
  let description = [{
    One entry per dimension in each list; limits are exclusive.

    ```mlir
    %1 = sgd.slice %0 starts = [0, 4] limits = [8, 16] strides = [1, 2] : tensor<8x16xf32> -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `starts` `=` $starts `limits` `=` $limits `strides` `=` $strides attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_PadOp : Sgd_Op<"pad", [Pure, Sgd_MovesElements, DeclareOpInterfaceMethods<Sgd_LinearOpInterface, ["getLinearity"]>]> {
  let summary = "Adds `value` before (low), after (high) and between (interior) elements; negative low or high removes";
  let description = [{
    ```mlir
    %1 = sgd.pad %0, %zero low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<8x16xf32>, tensor<f32> -> tensor<8x18xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $value `low` `=` $low `high` `=` $high `interior` `=` $interior attr-dict `:` type($input) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Sgd_ConcatenateOp : Sgd_Op<"concatenate", [Pure, Sgd_MovesElements]> {
  let summary = "Operands one after another along `dimension`";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs `dimension` `=` $dimension attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
}

def Sgd_ReverseOp : Sgd_Op<"reverse", [Pure, SameOperandsAndResultType, Sgd_MovesElements, Sgd_LinearOpInterface]> {
  let summary = "Reverses the order along `dimensions`";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dimensions` `=` $dimensions attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sgd_IotaOp : Sgd_Op<"iota", [Pure]> {
  let summary = "Each element is its index along `dimension`";
  let arguments = (ins I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`dimension` `=` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sgd_DynamicSliceOp : Sgd_Op<"dynamic_slice", [Pure]> {
  let summary = "A block of `sizes` at run-time starts, which are clamped so that the block is inside";
  let description = [{
    One scalar start per dimension.

    ```mlir
    %1 = sgd.dynamic_slice %0, %row, %column sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$starts, DenseI64ArrayAttr:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $starts `sizes` `=` $sizes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sgd_DynamicUpdateSliceOp : Sgd_Op<"dynamic_update_slice", [Pure]> {
  let summary = "The operand with a block replaced by `update` at run-time starts, clamped";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$update, Variadic<AnyRankedTensor>:$starts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $update `,` $starts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sgd_GatherOp : Sgd_Op<"gather", [Pure]> {
  let summary = "Slices of the operand at run-time indices, as StableHLO's gather; starts are clamped so that slices are inside";
  let description = [{
    The rows of a table that 4 tokens name (the lookup of an embedding). Index vectors are along dimension `index_vector_dim` of the indices;
    when this is their rank, each index is a vector of one element.

    ```mlir
    %rows = sgd.gather %table, %tokens {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
      indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>}
      : (tensor<100x16xf32>, tensor<4xi32>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices,
    DenseI64ArrayAttr:$offset_dims, DenseI64ArrayAttr:$collapsed_slice_dims, DenseI64ArrayAttr:$operand_batching_dims,
    DenseI64ArrayAttr:$indices_batching_dims, DenseI64ArrayAttr:$start_index_map, I64Attr:$index_vector_dim, DenseI64ArrayAttr:$slice_sizes,
    UnitAttr:$unsigned_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sgd_ScatterOp : Sgd_Op<"scatter", [Pure]> {
  let summary = "The operand with updates combined at run-time indices, as StableHLO's scatter; updates outside of the operand are dropped";
  let description = [{ Updates meet the operand in row-major order of the update tensor: the result is deterministic. }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, AnyRankedTensor:$updates, Sgd_ScatterKind:$kind,
    DenseI64ArrayAttr:$update_window_dims, DenseI64ArrayAttr:$inserted_window_dims, DenseI64ArrayAttr:$input_batching_dims,
    DenseI64ArrayAttr:$indices_batching_dims, DenseI64ArrayAttr:$scatter_dims_to_operand_dims, I64Attr:$index_vector_dim,
    UnitAttr:$unsigned_indices, UnitAttr:$unique_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
