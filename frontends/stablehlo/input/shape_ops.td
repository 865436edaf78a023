// Ops of `stablehlo` that make or rearrange elements, and dot_general.
#ifndef SGD_FRONTENDS_STABLEHLO_SHAPE_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_SHAPE_OPS_TD

include "frontends/stablehlo/input/stablehlo_attrs.td"
include "mlir/IR/OpAsmInterface.td"

def SHLO_ConstantOp : SHLO_Op<"constant", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def SHLO_IotaOp : SHLO_Op<"iota"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs SHLO_Number:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

class SHLO_Rearrange<string mnemonic, dag attributes, string format> : SHLO_Op<mnemonic> {
  let arguments = !con((ins AnyRankedTensor:$operand), attributes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand " # format # " attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def SHLO_BroadcastInDimOp : SHLO_Rearrange<"broadcast_in_dim", (ins DenseI64ArrayAttr:$broadcast_dimensions),
    "`,` `dims` `=` $broadcast_dimensions">;
def SHLO_BroadcastOp : SHLO_Rearrange<"broadcast", (ins DenseI64ArrayAttr:$broadcast_sizes), "`,` `sizes` `=` $broadcast_sizes">;
def SHLO_TransposeOp : SHLO_Rearrange<"transpose", (ins DenseI64ArrayAttr:$permutation), "`,` `dims` `=` $permutation">;
def SHLO_ReshapeOp : SHLO_Rearrange<"reshape", (ins), "">;
def SHLO_SliceOp : SHLO_Rearrange<"slice",
    (ins DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides),
    "custom<SliceRanges>($start_indices, $limit_indices, $strides)">;

def SHLO_ReverseOp : SHLO_Op<"reverse", [SameTypes]> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasVerifier = 1;
}

def SHLO_PadOp : SHLO_Op<"pad"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def SHLO_ConcatenateOp : SHLO_Op<"concatenate"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<OperandsThenComma>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def SHLO_DynamicSliceOp : SHLO_Op<"dynamic_slice"> {
  let arguments = (ins AnyRankedTensor:$operand, Variadic<SHLO_Int>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsThenComma>($start_indices) `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def SHLO_DynamicUpdateSliceOp : SHLO_Op<"dynamic_update_slice"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$update, Variadic<SHLO_Int>:$start_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def SHLO_DotGeneralOp : SHLO_Op<"dot_general"> {
  let arguments = (ins SHLO_Number:$lhs, SHLO_Number:$rhs, SHLO_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<TypedArrayAttrBase<SHLO_Precision, "precisions">>:$precision_config,
                       OptionalAttr<SHLO_DotAlgorithm>:$algorithm);
  let results = (outs SHLO_Number:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<DotAttributes>($dot_dimension_numbers, $precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// The form of exports before 2024: contracts the last dimension of lhs with the first of rhs.
def SHLO_DotOp : SHLO_Op<"dot"> {
  let arguments = (ins SHLO_Number:$lhs, SHLO_Number:$rhs, OptionalAttr<TypedArrayAttrBase<SHLO_Precision, "precisions">>:$precision_config);
  let results = (outs SHLO_Number:$result);
  let assemblyFormat = "$lhs `,` $rhs `` custom<Precisions>($precision_config) attr-dict `:` functional-type(operands, results)";
}

def SHLO_GatherOp : SHLO_Op<"gather"> {
  let arguments = (ins AnyRankedTensor:$operand, SHLO_Int:$start_indices, SHLO_GatherDimensionNumbers:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes, DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

#endif
