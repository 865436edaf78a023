// Library calls of matmuls and convolutions with their epilogues.
#ifndef SGD_DIALECTS_FUSION_LIBRARY_OPS_TD
#define SGD_DIALECTS_FUSION_LIBRARY_OPS_TD

include "dialects/fusion/epilogue.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Fusion_LibraryOp<string mnemonic, list<Trait> traits = []> : Fusion_Op<mnemonic, [Pure, AttrSizedOperandSegments] # traits> {
  let hasVerifier = 1;
}

def Fusion_LibraryMatmulOp : Fusion_LibraryOp<"library_matmul"> {
  let summary = "A matmul and its epilogue, by one library call";
  let description = [{
    The result of fusion.matmul in the accumulator type, changed by each step of `epilogue` in turn and rounded once:

    * `residual` adds a tensor of the result's type; the result overwrites its buffer where nothing reads it any more.
    * `bias` adds a vector over the last dimensions, of as many elements as these have.
    * `relu` computes the maximum with zero; of NaN it is NaN.
    * `gelu` computes x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))); `extra` is x, rounded.
    * `gelu_gradient` multiplies with gelu's derivative at `pre_activation`: how a gradient goes back through `gelu`.
    * `lhs_reduction`, `rhs_reduction`, alone: `extra` has the free dimensions of that operand, in its order, and holds its reduction over the contracted
      dimensions: a bias's gradient beside that of the weights. No label of that operand is batch.

    ```mlir
    %h, %x = fusion.library_matmul %a [0, 1], %w [1, 2] into [0, 2] epilogue [bias, gelu] bias %b
      : (tensor<8x16xbf16>, tensor<16x32xbf16>, tensor<32xbf16>) -> (tensor<8x32xbf16>, tensor<8x32xbf16>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$residual, Optional<AnyRankedTensor>:$bias,
    Optional<AnyRankedTensor>:$pre_activation, DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels,
    DenseI64ArrayAttr:$result_labels, Fusion_Epilogue:$epilogue, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result, Optional<AnyRankedTensor>:$extra);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels `epilogue` $epilogue (`residual` $residual^)?
    (`bias` $bias^)? (`at` $pre_activation^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_LibraryConvolutionOp : Fusion_LibraryOp<"library_convolution"> {
  let summary = "A convolution and its epilogue, by one library call";
  let description = [{
    The result of fusion.convolution in the accumulator type, changed by each step of `epilogue` in turn: `residual`, `bias`, `relu` as of fusion.library_matmul.

    ```mlir
    %1 = fusion.library_convolution %x [0, 4, 5, 2], %w [4, 5, 2, 3] into [0, 4, 5, 3] strides = [1, 1] low = [1, 1] lhs_dilations = [1, 1]
      rhs_dilations = [1, 1] epilogue [bias, relu] bias %b
      : (tensor<8x16x16x8xf32>, tensor<3x3x8x32xf32>, tensor<32xf32>) -> tensor<8x16x16x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$residual, Optional<AnyRankedTensor>:$bias,
    DenseI64ArrayAttr:$lhs_labels, DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$result_labels, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$lhs_dilations, DenseI64ArrayAttr:$rhs_dilations, Fusion_Epilogue:$epilogue, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs $lhs_labels `,` $rhs $rhs_labels `into` $result_labels `strides` `=` $strides `low` `=` $low `lhs_dilations` `=` $lhs_dilations
    `rhs_dilations` `=` $rhs_dilations `epilogue` $epilogue (`residual` $residual^)? (`bias` $bias^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    int64_t getNumSpatialDims() { return getStrides().size(); }
    /// Elements of the dimension that is called `label`.
    int64_t getLhsSize(int64_t label);
    int64_t getRhsSize(int64_t label);
    int64_t getResultSize(int64_t label);
  }];
}

#endif
