// Attention as kernels, for targets that have such kernels, and as library calls.
#ifndef SGD_DIALECTS_FUSION_ATTENTION_OPS_TD
#define SGD_DIALECTS_FUSION_ATTENTION_OPS_TD

include "dialects/fusion/fusion_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fusion_AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::mlir::fusion";
  let description = [{
    Shared by attention and its gradients. Labels name dimensions: 0 is the query's row, 1 the key's column, 2 the depth that scores sum
    over, 3 the depth of values, 4 and up are batch dimensions. `out` labels are those of the result, or of its gradient.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::Value", "getQuery">,
    InterfaceMethod<"", "::mlir::Value", "getKey">,
    InterfaceMethod<"", "::mlir::Value", "getValue">,
    InterfaceMethod<"null: none", "::mlir::Value", "getBias">,
    InterfaceMethod<"null: none", "::mlir::Value", "getMask">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getQueryLabels">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getKeyLabels">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getValueLabels">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getOutLabels">,
    InterfaceMethod<"", "::std::optional<::llvm::ArrayRef<int64_t>>", "getBiasLabels">,
    InterfaceMethod<"", "::std::optional<::llvm::ArrayRef<int64_t>>", "getMaskLabels">,
    InterfaceMethod<"", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"", "::std::optional<::llvm::APFloat>", "getFill">,
    InterfaceMethod<"", "::std::optional<uint64_t>", "getDiagonal">,
  ];
  let extraSharedClassDeclaration = [{
    static constexpr int64_t kRow = 0, kColumn = 1, kDepth = 2, kValueDepth = 3, kBatch = 4;
  }];
}

class Fusion_AttentionBase<string mnemonic, dag between, dag labels, dag results_> : Fusion_Op<mnemonic,
    [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Fusion_AttentionOpInterface>]> {
  let arguments = !con((ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value), between,
    (ins Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$mask, DenseI64ArrayAttr:$query_labels,
      DenseI64ArrayAttr:$key_labels, DenseI64ArrayAttr:$value_labels, DenseI64ArrayAttr:$out_labels,
      OptionalAttr<DenseI64ArrayAttr>:$bias_labels, OptionalAttr<DenseI64ArrayAttr>:$mask_labels, F64Attr:$scale,
      OptionalAttr<F64Attr>:$fill, OptionalAttr<I64Attr>:$diagonal), labels);
  let results = results_;
  let hasVerifier = 1;
}

def Fusion_AttentionOp : Fusion_AttentionBase<"attention", (ins), (ins),
    (outs AnyRankedTensor:$out, AnyRankedTensor:$row_max, AnyRankedTensor:$row_sum)> {
  let summary = "Attention: means of values, weighted by the softmax of scaled dot products of queries and keys";
  let description = [{
    With the labels of `AttentionOpInterface`: `scores = scale * sum over depth of query * key + bias`; where `mask` is false they are `fill`;
    where the column is greater than the row plus `diagonal` they do not count. `out = sum over columns of exp(scores - row_max) / row_sum *
    value`, with the largest score of a row and the sum of the exponentials as `row_max` and `row_sum`: f32, batch dimensions in the order of their
    labels, then rows. A tensor without a batch label is the same for all of that dimension. Accumulates in f32. No scores are kept in memory.

    ```mlir
    %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 2.500000e-01 diagonal = 0
      : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>) -> (tensor<2x64x4x16xf32>, tensor<2x4x64xf32>, tensor<2x4x64xf32>)
    ```
  }];
  let assemblyFormat = [{
    $query $query_labels `,` $key $key_labels `,` $value $value_labels (`bias` $bias^ $bias_labels)? (`mask` $mask^ $mask_labels `fill` `=` $fill)?
    `into` $out_labels `scale` `=` $scale (`diagonal` `=` $diagonal^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_AttentionQueryGradientOp : Fusion_AttentionBase<"attention_query_gradient",
    (ins AnyRankedTensor:$out_gradient, AnyRankedTensor:$row_max, AnyRankedTensor:$row_sum, AnyRankedTensor:$row_dot),
    (ins DenseI64ArrayAttr:$gradient_labels), (outs AnyRankedTensor:$gradient)> {
  let summary = "The gradient of `fusion.attention` by its query";
  let description = [{
    The weights are computed again from `row_max` and `row_sum` of the forward pass. `row_dot`, with their shape and order, is the sum over the depth of
    values of `out * out_gradient`. With `weights_gradient = sum over the depth of values of out_gradient * value`, the gradient of the scores before
    bias is `scale * weights * (weights_gradient - row_dot)`, zero where the mask is false.

    ```mlir
    %dq = fusion.attention_query_gradient %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3], %do [4, 0, 3] with %max, %sum, %dot into [4, 0, 2] scale = 1.000000e+00
      : (tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64xf32>, tensor<8x64xf32>,
         tensor<8x64xf32>) -> tensor<8x64x16xf32>
    ```
  }];
  let assemblyFormat = [{
    $query $query_labels `,` $key $key_labels `,` $value $value_labels `,` $out_gradient $out_labels `with` $row_max `,` $row_sum `,` $row_dot
    (`bias` $bias^ $bias_labels)? (`mask` $mask^ $mask_labels `fill` `=` $fill)? `into` $gradient_labels `scale` `=` $scale
    (`diagonal` `=` $diagonal^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_AttentionKeyGradientOp : Fusion_AttentionBase<"attention_key_gradient",
    (ins AnyRankedTensor:$out_gradient, AnyRankedTensor:$row_max, AnyRankedTensor:$row_sum, AnyRankedTensor:$row_dot),
    (ins DenseI64ArrayAttr:$key_gradient_labels, DenseI64ArrayAttr:$value_gradient_labels),
    (outs AnyRankedTensor:$key_gradient, AnyRankedTensor:$value_gradient)> {
  let summary = "The gradients of `fusion.attention` by its key and its value";
  let description = [{
    As `fusion.attention_query_gradient`. Batch dimensions that the key does not have are summed over, in order.

    ```mlir
    %dk, %dv = fusion.attention_key_gradient %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3], %do [4, 0, 3] with %max, %sum, %dot into [4, 1, 2], [4, 1, 3]
      scale = 1.000000e+00 : (tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>, tensor<8x64xf32>,
      tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<8x64x16xf32>, tensor<8x64x16xf32>)
    ```
  }];
  let assemblyFormat = [{
    $query $query_labels `,` $key $key_labels `,` $value $value_labels `,` $out_gradient $out_labels `with` $row_max `,` $row_sum `,` $row_dot
    (`bias` $bias^ $bias_labels)? (`mask` $mask^ $mask_labels `fill` `=` $fill)? `into` $key_gradient_labels `,` $value_gradient_labels
    `scale` `=` $scale (`diagonal` `=` $diagonal^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_LibraryAttentionOp : Fusion_AttentionBase<"library_attention", (ins),
    (ins OptionalAttr<DenseI64ArrayAttr>:$steps, DefaultValuedAttr<I64Attr, "0">:$workspace_bytes),
    (outs AnyRankedTensor:$out, AnyRankedTensor:$log_sum)> {
  let summary = "`fusion.attention` without a mask, as one call of a library";
  let description = [{
    Of each row there is one statistic: `log_sum = row_max + log(row_sum)`. Batch dimensions that the key has come before those that it has
    not. `steps` batches and heads are computed at once, all of them without it, in a workspace of the library's.

    ```mlir
    %out, %log_sum = fusion.library_attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 2.500000e-01 diagonal = 0
      : (tensor<2x64x4x16xbf16>, tensor<2x64x4x16xbf16>, tensor<2x64x4x16xbf16>) -> (tensor<2x64x4x16xbf16>, tensor<2x4x64xf32>)
    ```
  }];
  let assemblyFormat = [{
    $query $query_labels `,` $key $key_labels `,` $value $value_labels (`bias` $bias^ $bias_labels)? (`mask` $mask^ $mask_labels `fill` `=` $fill)?
    `into` $out_labels `scale` `=` $scale (`diagonal` `=` $diagonal^)? (`steps` $steps^)? (`workspace` $workspace_bytes^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fusion_LibraryAttentionGradientOp : Fusion_AttentionBase<"library_attention_gradient",
    (ins AnyRankedTensor:$out, AnyRankedTensor:$out_gradient, AnyRankedTensor:$log_sum),
    (ins DenseI64ArrayAttr:$out_gradient_labels, DenseI64ArrayAttr:$query_gradient_labels, DenseI64ArrayAttr:$key_gradient_labels,
      DenseI64ArrayAttr:$value_gradient_labels, OptionalAttr<DenseI64ArrayAttr>:$steps, DefaultValuedAttr<I64Attr, "0">:$workspace_bytes),
    (outs AnyRankedTensor:$query_gradient, AnyRankedTensor:$key_gradient, AnyRankedTensor:$value_gradient)> {
  let summary = "The gradients of `fusion.library_attention` by query, key and value";
  let description = [{
    Weights are `exp(scores - log_sum)`. Otherwise as `fusion.attention_query_gradient` and `fusion.attention_key_gradient`.

    ```mlir
    %dq, %dk, %dv = fusion.library_attention_gradient %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3], %o [4, 0, 3], %do [4, 0, 3] with %log_sum
      into [4, 0, 2], [4, 1, 2], [4, 1, 3] scale = 1.000000e+00 : (tensor<8x64x16xbf16>, tensor<8x64x16xbf16>, tensor<8x64x16xbf16>,
      tensor<8x64x16xbf16>, tensor<8x64x16xbf16>, tensor<8x64xf32>) -> (tensor<8x64x16xbf16>, tensor<8x64x16xbf16>, tensor<8x64x16xbf16>)
    ```
  }];
  let assemblyFormat = [{
    $query $query_labels `,` $key $key_labels `,` $value $value_labels `,` $out $out_labels `,` $out_gradient $out_gradient_labels `with` $log_sum
    (`bias` $bias^ $bias_labels)? (`mask` $mask^ $mask_labels `fill` `=` $fill)? `into` $query_gradient_labels `,` $key_gradient_labels `,`
    $value_gradient_labels `scale` `=` $scale (`diagonal` `=` $diagonal^)? (`steps` $steps^)? (`workspace` $workspace_bytes^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif
