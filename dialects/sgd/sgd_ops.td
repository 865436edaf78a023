// Structured ops of the graph level. Every op is free of side effects; shapes are static.
#ifndef SGD_DIALECTS_SGD_OPS_TD
#define SGD_DIALECTS_SGD_OPS_TD

include "dialects/sgd/control_flow_ops.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

// Mesh and sharding ---------------------------------------------------------------------------------------------------

def Sgd_MeshOp : Sgd_Op<"mesh", [Symbol]> {
  let summary = "Names a mesh";
  let description = [{ `sgd.mesh @mesh = <["data"=4, "model"=2]>` }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sgd_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sgd_ShardingConstraintOp : Sgd_Op<"sharding_constraint", [Pure, SameOperandsAndResultType]> {
  let summary = "The user's wish for how its operand is sharded; the value is unchanged";
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

def Sgd_ReshardOp : Sgd_Op<"reshard", [Pure]> {
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

// Manual computations ---------------------------------------------------------------------------------------------------

def Sgd_ManualComputationOp : Sgd_Op<"manual_computation", [IsolatedFromAbove, SingleBlock]> {
  let summary = "A body written for what one rank holds along the manual axes, with its collectives: jax.shard_map";
  let description = [{
    Each operand is cut as its sharding says along the manual axes; block arguments have the shapes of these parts. The body may hold
    `spmd` collectives and `sgd.permute_ranks` over manual axes. What it yields is put together again as the sharding of each result says;
    along manual axes that this does not name, ranks should agree, and what the first one holds is taken. Along other axes shapes are whole
    and shardings are propagated as anywhere. The op is gone after `sgd-expand-manual`.

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

// Index space ---------------------------------------------------------------------------------------------------------

def Sgd_BroadcastInDimOp : Sgd_Op<"broadcast_in_dim", [Pure]> {
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

def Sgd_TransposeOp : Sgd_Op<"transpose", [Pure]> {
  let summary = "Result dimension i is operand dimension permutation[i]";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `permutation` `=` $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_ReshapeOp : Sgd_Op<"reshape", [Pure]> {
  let summary = "Same elements in row-major order, other dimensions";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Sgd_SliceOp : Sgd_Op<"slice", [Pure]> {
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

def Sgd_PadOp : Sgd_Op<"pad", [Pure]> {
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

def Sgd_ConcatenateOp : Sgd_Op<"concatenate", [Pure]> {
  let summary = "Operands one after another along `dimension`";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs `dimension` `=` $dimension attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
}

def Sgd_ReverseOp : Sgd_Op<"reverse", [Pure, SameOperandsAndResultType]> {
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
  let summary = "A block of `sizes` at run-time starts, which are clamped so that the block lies inside";
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
  let summary = "Slices of the operand at run-time indices, as StableHLO's gather; starts are clamped so that slices lie inside";
  let description = [{
    The rows of a table that 4 tokens name (the lookup of an embedding). Index vectors lie along dimension `index_vector_dim` of the indices;
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
  let summary = "The operand with updates combined at run-time indices, as StableHLO's scatter; updates that do not lie inside are dropped";
  let description = [{ Updates meet the operand in row-major order of the update tensor: the result is deterministic. }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, AnyRankedTensor:$updates, Sgd_ScatterKind:$kind,
    DenseI64ArrayAttr:$update_window_dims, DenseI64ArrayAttr:$inserted_window_dims, DenseI64ArrayAttr:$input_batching_dims,
    DenseI64ArrayAttr:$indices_batching_dims, DenseI64ArrayAttr:$scatter_dims_to_operand_dims, I64Attr:$index_vector_dim,
    UnitAttr:$unsigned_indices, UnitAttr:$unique_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

// Contractions --------------------------------------------------------------------------------------------------------

def Sgd_DotGeneralOp : Sgd_Op<"dot_general", [Pure]> {
  let summary = "Sum of products over the contracting dimensions; result dimensions: batch, then lhs free, then rhs free";
  let description = [{
    Accumulates in at least f32; the result is rounded once to its element type. Lists pair up: dimension `lhs_batching[i]` with
    `rhs_batching[i]`, `lhs_contracting[i]` with `rhs_contracting[i]`. `tf32`: a target may round f32 operands to 10 bits of mantissa first.

    ```mlir
    %1 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
    DenseI64ArrayAttr:$lhs_batching, DenseI64ArrayAttr:$rhs_batching, DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
    UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batching` `=` $lhs_batching `x` $rhs_batching `contracting` `=` $lhs_contracting `x` $rhs_contracting
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Dimensions of the operand that are neither batch nor contracting, in order.
    SmallVector<int64_t> getLhsFree();
    SmallVector<int64_t> getRhsFree();
  }];
}

def Sgd_ConvolutionOp : Sgd_Op<"convolution", [Pure]> {
  let summary = "Sum of products over windows and input features, in groups";
  let description = [{
    lhs [N, s.., G, C], rhs [k.., G, C, O], result [N, o.., G, O]: batch, any number of spatial dimensions, groups, features. The lists have an
    entry per spatial dimension. `lhs_dilations` puts zeros between elements of the lhs, `low` and `high` add zeros before and after (or remove
    elements where negative), then windows begin at multiples of `strides` and their elements are `rhs_dilations` apart:

        result[n, o.., g, f] = sum over k.., c of padded[n, o * stride + k * rhs_dilation.., g, c] * rhs[k.., g, c, f]

    Accumulates in at least f32; the result is rounded once to its element type. `tf32` as for dot_general.

    ```mlir
    %1 = sgd.convolution %x, %w strides = [2, 2] low = [0, 0] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
      : tensor<8x32x32x1x3xf32>, tensor<3x3x1x3x16xf32> -> tensor<8x16x16x1x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
    DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$lhs_dilations, DenseI64ArrayAttr:$rhs_dilations, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `strides` `=` $strides `low` `=` $low `high` `=` $high `lhs_dilations` `=` $lhs_dilations `rhs_dilations` `=` $rhs_dilations
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumSpatialDims() { return getStrides().size(); }
  }];
}

def Sgd_ContractOp : Sgd_Op<"contract", [Pure]> {
  let summary = "A dot_general with its operand and result layouts folded in: an einsum over labelled dimensions";
  let description = [{
    `lhs_labels[i]` names dimension i of the lhs, likewise for rhs and result; equal labels are the same dimension. Labels in both operands
    and the result are batch, in both operands only contracted, in one operand and the result free. Formed from dot_general and its
    neighbouring transposes just before kernels are made, so that a library call can be given strides instead of copies. `tf32` as for
    dot_general. The operands have one element type; the result's may be the one that their sums are taken in. Operands of f8 may be of two
    kinds, and their result is f32, bf16 or f16.

    Labels in x^T w, both operands as they lie in memory: 0 is the contracted dimension.

    ```mlir
    %1 = sgd.contract %x [0, 1], %w [0, 2] into [1, 2] : tensor<8x16xf32>, tensor<8x32xf32> -> tensor<16x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
    DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$result_labels, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Sgd_ContractSumsOp : Sgd_Op<"contract_sums", [Pure]> {
  let summary = "A contraction and one operand's sums over the contracted dimensions, by one library call";
  let description = [{
    result = contract(lhs, rhs), labels as in sgd.contract. `sums` has the free dimensions of the lhs (`of_lhs`) or of the rhs, in that operand's
    order, and the result's element type: a bias's gradient beside that of the weights. No label of that operand is batch.

    ```mlir
    %dw, %db = sgd.contract_sums %x [0, 1], %dy [0, 2] into [1, 2]
      : (tensor<32x64xbf16>, tensor<32x16xbf16>) -> (tensor<64x16xbf16>, tensor<16xbf16>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
    DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$result_labels, UnitAttr:$of_lhs, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$sums);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels (`of_lhs` $of_lhs^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sgd_ContractGeluOp : Sgd_Op<"contract_gelu", [Pure]> {
  let summary = "A contraction, a bias, and gelu of their sum, by one library call";
  let description = [{
    pre_activation = contract(lhs, rhs) + bias, the bias, if there is one, being of the last dimension, and result = gelu(pre_activation) in the form
    x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). Labels as in sgd.contract. Gelu is taken of the sum before that is rounded to
    the element type, f16 or bf16.

    ```mlir
    %h, %x = sgd.contract_gelu %a [0, 1], %w [1, 2] into [0, 2] bias %b
      : (tensor<8x16xbf16>, tensor<16x32xbf16>, tensor<32xbf16>) -> (tensor<8x32xbf16>, tensor<8x32xbf16>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$bias,
    DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$result_labels);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$pre_activation);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sgd_ContractGeluGradientOp : Sgd_Op<"contract_gelu_gradient", [Pure]> {
  let summary = "A contraction times the derivative of gelu, by one library call";
  let description = [{
    result = contract(lhs, rhs) * gelu'(pre_activation): how a gradient goes back through sgd.contract_gelu.

    ```mlir
    %dx = sgd.contract_gelu_gradient %dy [0, 1], %w [2, 1] into [0, 2] at %x
      : (tensor<8x64xbf16>, tensor<32x64xbf16>, tensor<8x32xbf16>) -> tensor<8x32xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$pre_activation,
    DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$result_labels);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels `at` $pre_activation attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sgd_ConvolveOp : Sgd_Op<"convolve", [Pure]> {
  let summary = "A convolution with its operand and result layouts folded in";
  let description = [{
    Labels name dimensions: 0 is the batch, 1 the group, 2 the input feature, 3 the output feature, 4 + i spatial dimension i. What a tensor has
    no dimension for has one element, as has a dimension labelled -1. Element k of window o is at o * stride + k * rhs_dilation - low in the
    lhs with `lhs_dilation - 1` zeros between its elements; what lies outside is zero. A negative rhs_dilation reads the kernel backwards.
    The element type of the result is the one that sums are taken in: f32 for f16 and bf16, i32 for narrower integers; or, of f16 and bf16,
    that of the operands, to which each sum is rounded once.

    A gradient by the input, with the kernel as the forward pass has it in memory:

    ```mlir
    %1 = sgd.convolve %dy [0, 4, 5, 2], %w [4, 5, 3, 2] into [0, 4, 5, 3] strides = [1, 1] low = [-1, -1] lhs_dilations = [1, 1]
      rhs_dilations = [-1, -1] : tensor<8x16x16x32xf32>, tensor<3x3x8x32xf32> -> tensor<8x16x16x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels,
    DenseI64ArrayAttr:$result_labels, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$lhs_dilations,
    DenseI64ArrayAttr:$rhs_dilations, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels `strides` `=` $strides `low` `=` $low `lhs_dilations` `=` $lhs_dilations
    `rhs_dilations` `=` $rhs_dilations attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kBatch = 0, kGroup = 1, kInput = 2, kOutput = 3, kSpatial = 4;
    int64_t getNumSpatialDims() { return getStrides().size(); }
    /// Elements of the dimension that is called `label`.
    int64_t getLhsSize(int64_t label);
    int64_t getRhsSize(int64_t label);
    int64_t getResultSize(int64_t label);
  }];
}

def Sgd_ReduceOp : Sgd_Op<"reduce", [Pure]> {
  let summary = "Combines all elements along `dimensions`, starting from the neutral element of `kind`";
  let description = [{
    max and min propagate NaN. bf16 and f16 sums accumulate in f32 and round once.

    ```mlir
    %1 = sgd.reduce add %0 dimensions = [0] : tensor<8x16xf32> -> tensor<16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_ReduceKind:$kind, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `dimensions` `=` $dimensions attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

// Order ---------------------------------------------------------------------------------------------------------------

def Sgd_SortOp : Sgd_Op<"sort", [Pure, IsolatedFromAbove, SingleBlock]> {
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

def Sgd_SortRowsOp : Sgd_Op<"sort_rows", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A sort along the last dimension with its working memory: the form that becomes a kernel";
  let description = [{
    As `sgd.sort` of the last dimension. The results are those of the sort, then as many again of the same types, which hold nothing of use
    afterwards: while rows are merged they lie there. Formed just before kernels are made.

    ```mlir
    %1:2 = sgd.sort_rows(%x) {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      sgd.yield %less : i1
    } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let assemblyFormat = "`(` $inputs `)` $comparator attr-dict `:` functional-type($inputs, results)";
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
    bf16 and f16 sums accumulate in f32 and round once. Exists until `sgd-localize`, which knows where ranks' parts begin.

    ```mlir
    %1 = sgd.cumulative add %0 dimension = 0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sgd_ReduceKind:$kind, I64Attr:$dimension, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `dimension` `=` $dimension (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sgd_OptimizationBarrierOp : Sgd_Op<"optimization_barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "Operands unchanged; nothing is moved or merged across it";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

// Total integer and conversion ops --------------------------------------------------------------------------------------
// Elementwise ops whose arith forms are undefined on some inputs; results there are XLA's. They act on tensors, and on scalars inside kernels.

class Sgd_TotalBinaryOp<string mnemonic> : Sgd_Op<mnemonic, [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Sgd_DivSIOp : Sgd_TotalBinaryOp<"divsi"> { let summary = "Signed quotient rounded to zero; x/0 = -1, INT_MIN/-1 = INT_MIN"; }
def Sgd_DivUIOp : Sgd_TotalBinaryOp<"divui"> { let summary = "Unsigned quotient; x/0 = all ones"; }
def Sgd_RemSIOp : Sgd_TotalBinaryOp<"remsi"> { let summary = "Signed remainder with the dividend's sign; x rem 0 = x, INT_MIN rem -1 = 0"; }
def Sgd_RemUIOp : Sgd_TotalBinaryOp<"remui"> { let summary = "Unsigned remainder; x rem 0 = x"; }
def Sgd_ShLIOp : Sgd_TotalBinaryOp<"shli"> { let summary = "Left shift; by the width or more = 0"; }
def Sgd_ShRUIOp : Sgd_TotalBinaryOp<"shrui"> { let summary = "Logical right shift; by the width or more = 0"; }
def Sgd_ShRSIOp : Sgd_TotalBinaryOp<"shrsi"> { let summary = "Arithmetic right shift; by the width or more = the sign"; }

class Sgd_FloatToIntOp<string mnemonic> : Sgd_Op<mnemonic, [Pure, SameOperandsAndResultShape] # ElementwiseMappable.traits> {
  let arguments = (ins FloatLike:$input);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
}
def Sgd_FPToSIOp : Sgd_FloatToIntOp<"fptosi"> { let summary = "Rounds to zero; saturates; NaN = 0"; }
def Sgd_FPToUIOp : Sgd_FloatToIntOp<"fptoui"> { let summary = "Rounds to zero; saturates at 0 and the largest; NaN = 0"; }

// Clusters ------------------------------------------------------------------------------------------------------------

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
