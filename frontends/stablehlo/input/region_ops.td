// Ops of `stablehlo` with regions: reductions, scatter, sort and control flow.
#ifndef SGD_FRONTENDS_STABLEHLO_REGION_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_REGION_OPS_TD

include "frontends/stablehlo/input/stablehlo_attrs.td"
include "mlir/IR/OpAsmInterface.td"

def SHLO_Body : SizedRegion<1>;

def SHLO_ReturnOp : SHLO_Op<"return", [Terminator]> {
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def SHLO_ReduceOp : SHLO_Op<"reduce", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$init_values, DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SHLO_Body:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def SHLO_ReduceWindowOp : SHLO_Op<"reduce_window", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$init_values, DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SHLO_Body:$body);
}

def SHLO_SelectAndScatterOp : SHLO_Op<"select_and_scatter"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$source, AnyRankedTensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SHLO_Body:$select, SHLO_Body:$scatter);
}

def SHLO_ScatterOp : SHLO_Op<"scatter", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, SHLO_Int:$scatter_indices, Variadic<AnyRankedTensor>:$updates,
                       SHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SHLO_Body:$update_computation);
  let hasVerifier = 1;
}

def SHLO_SortOp : SHLO_Op<"sort"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SHLO_Body:$comparator);
}

def SHLO_MapOp : SHLO_Op<"map"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SHLO_Body:$computation);
}

def SHLO_WhileOp : SHLO_Op<"while", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<AnyType>:$operand);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SHLO_Body:$cond, SHLO_Body:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def SHLO_IfOp : SHLO_Op<"if"> {
  let arguments = (ins SHLO_Pred:$pred);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SHLO_Body:$true_branch, SHLO_Body:$false_branch);
}

def SHLO_CaseOp : SHLO_Op<"case"> {
  let arguments = (ins SHLO_Int:$index);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<SHLO_Body>:$branches);
}

def SHLO_AllReduceOp : SHLO_Op<"all_reduce"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SHLO_Body:$computation);
}

def SHLO_ReduceScatterOp : SHLO_Op<"reduce_scatter"> {
  let arguments = (ins AnyRankedTensor:$operand, I64Attr:$scatter_dimension, I64ElementsAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SHLO_Body:$computation);
}

#endif
