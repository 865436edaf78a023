// Matmuls and convolutions with the layouts of operands and result folded in.
#ifndef SGD_DIALECTS_FUSION_CONTRACTION_OPS_TD
#define SGD_DIALECTS_FUSION_CONTRACTION_OPS_TD

include "dialects/fusion/fusion_dialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Fusion_MatmulOp : Fusion_Op<"matmul", [Pure]> {
  let summary = "A dot_general with its operand and result layouts folded in: an einsum over labelled dimensions";
  let description = [{
    `lhs_labels[i]` names dimension i of the lhs, likewise for rhs and result; equal labels are the same dimension. Labels in both operands
    and the result are batch, in both operands only contracted, in one operand and the result free. `sgd-lower-dot-generals` creates it from a dot_general
    and its neighbouring transposes, so that a library call reads operands by strides instead of copies. `tf32` as for
    dot_general. The operands have one element type; the result's may be their accumulator type. Operands of f8 may be of two
    kinds, and their result is f32, bf16 or f16.

    Labels in x^T w, both operands in their memory layout: 0 is the contracted dimension.

    ```mlir
    %1 = fusion.matmul %x [0, 1], %w [0, 2] into [1, 2] : tensor<8x16xf32>, tensor<8x32xf32> -> tensor<16x32xf32>
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

def Fusion_ConvolutionOp : Fusion_Op<"convolution", [Pure]> {
  let summary = "A convolution with its operand and result layouts folded in";
  let description = [{
    Labels name dimensions: 0 is the batch, 1 the group, 2 the input feature, 3 the output feature, 4 + i spatial dimension i. A label that a tensor
    does not have has one element, as has a dimension labelled -1. Element k of window o is at o * stride + k * rhs_dilation - low in the
    lhs with `lhs_dilation - 1` zeros between its elements; elements outside are zero. A negative rhs_dilation reads the kernel backwards.
    The element type of the result is the accumulator type: f32 for f16 and bf16, i32 for narrower integers; or, of f16 and bf16,
    that of the operands, to which each accumulator is rounded once.

    A gradient by the input, with the kernel as the forward pass has it in memory:

    ```mlir
    %1 = fusion.convolution %dy [0, 4, 5, 2], %w [4, 5, 3, 2] into [0, 4, 5, 3] strides = [1, 1] low = [-1, -1] lhs_dilations = [1, 1]
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

#endif
