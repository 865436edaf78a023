// Products, convolutions and reductions, as programs and as libraries have them.
#ifndef SGD_DIALECTS_SGD_CONTRACTION_OPS_TD
#define SGD_DIALECTS_SGD_CONTRACTION_OPS_TD

include "dialects/sgd/linear_op.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

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

def Sgd_ReduceOp : Sgd_Op<"reduce", [Pure, DeclareOpInterfaceMethods<Sgd_LinearOpInterface, ["getLinearity"]>]> {
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

#endif
