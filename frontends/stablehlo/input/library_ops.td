// The remaining ops of `stablehlo`: convolution, linear algebra, random numbers, calls to libraries, collectives of manual regions, dynamic shapes.
#ifndef SGD_FRONTENDS_STABLEHLO_LIBRARY_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_LIBRARY_OPS_TD

include "frontends/stablehlo/input/stablehlo_attrs.td"

def SHLO_ConvolutionOp : SHLO_Op<"convolution"> {
  let arguments = (ins SHLO_Number:$lhs, SHLO_Number:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       SHLO_ConvDimensionNumbers:$dimension_numbers, I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<TypedArrayAttrBase<SHLO_Precision, "precisions">>:$precision_config);
  let results = (outs SHLO_Number:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` custom<ConvolutionWindow>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal)
    attr-dict `:` functional-type(operands, results)
  }];
}

// `mnemonic FORMAT attributes : (types) -> types`.
class SHLO_Call<string mnemonic, dag ins, dag outs, string format = "operands"> : SHLO_Op<mnemonic> {
  let arguments = ins;
  let results = outs;
  let assemblyFormat = format # " attr-dict `:` functional-type(operands, results)";
}
// Printed in MLIR's generic form only.
class SHLO_Generic<string mnemonic, dag ins, dag outs> : SHLO_Op<mnemonic> {
  let arguments = ins;
  let results = outs;
}

def SHLO_FftOp : SHLO_Call<"fft", (ins SHLO_FloatOrComplex:$operand, SHLO_FftType:$fft_type, DenseI64ArrayAttr:$fft_length),
    (outs SHLO_FloatOrComplex:$result), "$operand `,` `type` `=` `` $fft_type `,` `length` `=` $fft_length">;
def SHLO_RngOp : SHLO_Call<"rng", (ins AnyRankedTensor:$a, AnyRankedTensor:$b, SHLO_Int:$shape, SHLO_RngDistribution:$rng_distribution),
    (outs AnyRankedTensor:$result), "$a `,` $b `,` $shape `,` `distribution` `=` `` $rng_distribution">;
def SHLO_RngBitGeneratorOp : SHLO_Call<"rng_bit_generator", (ins SHLO_Int:$initial_state, SHLO_RngAlgorithm:$rng_algorithm),
    (outs SHLO_Int:$output_state, SHLO_Number:$output), "$initial_state `,` `algorithm` `=` `` $rng_algorithm">;
def SHLO_GetTupleElementOp : SHLO_Call<"get_tuple_element", (ins AnyTuple:$operand, I32Attr:$index), (outs AnyType:$result),
    "$operand `[` $index `]`">;
def SHLO_GetDimensionSizeOp : SHLO_Call<"get_dimension_size", (ins AnyRankedTensor:$operand, I64Attr:$dimension), (outs SHLO_Int:$result),
    "$operand `,` `dim` `=` $dimension">;
def SHLO_SetDimensionSizeOp : SHLO_Call<"set_dimension_size", (ins AnyRankedTensor:$operand, SHLO_Int:$size, I64Attr:$dimension),
    (outs AnyRankedTensor:$result), "$operand `,` $size `,` `dim` `=` $dimension">;
def SHLO_DynamicBroadcastInDimOp : SHLO_Call<"dynamic_broadcast_in_dim",
    (ins AnyRankedTensor:$operand, AnyRankedTensor:$output_dimensions, DenseI64ArrayAttr:$broadcast_dimensions,
         OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions, OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions),
    (outs AnyRankedTensor:$result), "$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions">;
def SHLO_DynamicIotaOp : SHLO_Call<"dynamic_iota", (ins AnyRankedTensor:$output_shape, I64Attr:$iota_dimension), (outs AnyRankedTensor:$result),
    "$output_shape `,` `dim` `=` $iota_dimension">;
def SHLO_DynamicReshapeOp : SHLO_Call<"dynamic_reshape", (ins AnyRankedTensor:$operand, AnyRankedTensor:$output_shape), (outs AnyRankedTensor:$result)>;
def SHLO_DynamicPadOp : SHLO_Call<"dynamic_pad", (ins Variadic<AnyRankedTensor>:$inputs), (outs AnyRankedTensor:$result)>;
def SHLO_RealDynamicSliceOp : SHLO_Call<"real_dynamic_slice", (ins Variadic<AnyRankedTensor>:$inputs), (outs AnyRankedTensor:$result)>;
def SHLO_DynamicGatherOp : SHLO_Generic<"dynamic_gather",
    (ins AnyRankedTensor:$operand, AnyRankedTensor:$start_indices, AnyRankedTensor:$slice_sizes,
         SHLO_GatherDimensionNumbers:$dimension_numbers, DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted),
    (outs AnyRankedTensor:$result)>;

def SHLO_CholeskyOp : SHLO_Op<"cholesky", [SameTypes]> {
  let arguments = (ins SHLO_FloatOrComplex:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs SHLO_FloatOrComplex:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}
def SHLO_TriangularSolveOp : SHLO_Generic<"triangular_solve",
    (ins SHLO_FloatOrComplex:$a, SHLO_FloatOrComplex:$b, BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal, SHLO_Transpose:$transpose_a),
    (outs SHLO_FloatOrComplex:$result)>;
def SHLO_EinsumOp : SHLO_Generic<"einsum", (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, StrAttr:$einsum_config), (outs AnyRankedTensor:$result)>;
def SHLO_UnaryEinsumOp : SHLO_Generic<"unary_einsum", (ins AnyRankedTensor:$operand, StrAttr:$einsum_config), (outs AnyRankedTensor:$result)>;
def SHLO_TorchIndexSelectOp : SHLO_Generic<"torch_index_select",
    (ins AnyRankedTensor:$operand, AnyRankedTensor:$index, I64Attr:$dim, I64Attr:$batch_dims), (outs AnyRankedTensor:$result)>;
def SHLO_BatchNormTrainingOp : SHLO_Generic<"batch_norm_training",
    (ins SHLO_Float:$operand, SHLO_Float:$scale, SHLO_Float:$offset, F32Attr:$epsilon, I64Attr:$feature_index),
    (outs SHLO_Float:$output, SHLO_Float:$batch_mean, SHLO_Float:$batch_var)>;
def SHLO_BatchNormInferenceOp : SHLO_Generic<"batch_norm_inference",
    (ins SHLO_Float:$operand, SHLO_Float:$scale, SHLO_Float:$offset, SHLO_Float:$mean, SHLO_Float:$variance, F32Attr:$epsilon, I64Attr:$feature_index),
    (outs SHLO_Float:$result)>;
def SHLO_BatchNormGradOp : SHLO_Generic<"batch_norm_grad",
    (ins SHLO_Float:$operand, SHLO_Float:$scale, SHLO_Float:$mean, SHLO_Float:$variance, SHLO_Float:$grad_output, F32Attr:$epsilon, I64Attr:$feature_index),
    (outs SHLO_Float:$grad_operand, SHLO_Float:$grad_scale, SHLO_Float:$grad_offset)>;

def SHLO_CustomCallOp : SHLO_Op<"custom_call"> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name, DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config, DefaultValuedOptionalAttr<I32Attr, "1">:$api_version,
                       DefaultValuedOptionalAttr<ArrayAttr, "{}">:$called_computations, OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts, DefaultValuedOptionalAttr<ArrayAttr, "{}">:$output_operand_aliases);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)";
}

def SHLO_CompositeOp : SHLO_Op<"composite"> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name, OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

def SHLO_OptimizationBarrierOp : SHLO_Op<"optimization_barrier"> {
  let arguments = (ins Variadic<AnyType>:$operand);
  let results = (outs Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand), type($result))):(`(` `)`)?";
  let hasVerifier = 1;
}

def SHLO_TupleOp : SHLO_Op<"tuple"> {
  let arguments = (ins Variadic<AnyType>:$val);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleType>(type($val), type($result))";
}

// Values that differ between ranks, and collectives: they stand in manual regions.
class SHLO_Id<string mnemonic> : SHLO_Op<mnemonic> {
  let results = (outs RankedTensorOf<[UI32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def SHLO_PartitionIdOp : SHLO_Id<"partition_id">;
def SHLO_ReplicaIdOp : SHLO_Id<"replica_id">;

class SHLO_Collective<string mnemonic, dag attributes> : SHLO_Op<mnemonic> {
  let arguments = !con((ins Variadic<AnyRankedTensor>:$inputs), attributes, (ins OptionalAttr<SHLO_ChannelHandle>:$channel_handle));
  let results = (outs Variadic<AnyRankedTensor>:$results);
}
def SHLO_AllGatherOp : SHLO_Collective<"all_gather", (ins I64Attr:$all_gather_dim, I64ElementsAttr:$replica_groups, UnitAttr:$use_global_device_ids)>;
def SHLO_AllToAllOp : SHLO_Collective<"all_to_all",
    (ins I64Attr:$split_dimension, I64Attr:$concat_dimension, I64Attr:$split_count, I64ElementsAttr:$replica_groups)>;
def SHLO_CollectivePermuteOp : SHLO_Collective<"collective_permute", (ins I64ElementsAttr:$source_target_pairs)>;
def SHLO_CollectiveBroadcastOp : SHLO_Collective<"collective_broadcast", (ins I64ElementsAttr:$replica_groups)>;

// Host transfer and ordering of side effects.
def SHLO_CreateTokenOp : SHLO_Op<"create_token"> {
  let results = (outs SHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}
def SHLO_AfterAllOp : SHLO_Op<"after_all"> {
  let arguments = (ins Variadic<SHLO_Token>:$inputs);
  let results = (outs SHLO_Token:$result);
  let assemblyFormat = "$inputs attr-dict `:` custom<AllOfResultType>(ref($inputs), type($inputs), type($result))";
}
class SHLO_Transfer<string mnemonic, dag attributes> : SHLO_Op<mnemonic> {
  let arguments = !con((ins Variadic<AnyType>:$inputs), attributes);
  let results = (outs Variadic<AnyType>:$results);
}
def SHLO_InfeedOp : SHLO_Transfer<"infeed", (ins OptionalAttr<StrAttr>:$infeed_config, OptionalAttr<ArrayAttr>:$layout)>;
def SHLO_OutfeedOp : SHLO_Transfer<"outfeed", (ins OptionalAttr<StrAttr>:$outfeed_config)>;
def SHLO_SendOp : SHLO_Transfer<"send", (ins OptionalAttr<SHLO_ChannelHandle>:$channel_handle,
    OptionalAttr<BoolAttr>:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs)>;
def SHLO_RecvOp : SHLO_Transfer<"recv", (ins OptionalAttr<SHLO_ChannelHandle>:$channel_handle,
    OptionalAttr<BoolAttr>:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs)>;

#endif
