// Matmuls, convolutions and reductions.
#ifndef SGD_DIALECTS_SGD_CONTRACTION_OPS_TD
#define SGD_DIALECTS_SGD_CONTRACTION_OPS_TD

include "dialects/sgd/linear_op.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Sgd_DotGeneralOp : Sgd_Op<"dot_general", [Pure]> {
  let summary = "Generalised matmul over the contracting dimensions; result dimensions: batch, then lhs free, then rhs free";
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
  let summary = "Convolution: windows of the lhs times the rhs, contracted over window elements and input features, in groups";
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
