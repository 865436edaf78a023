// Compressed reductions: between the passes that place reductions and localisation alone.
#ifndef SGD_DIALECTS_SGD_COMPRESSION_OPS_TD
#define SGD_DIALECTS_SGD_COMPRESSION_OPS_TD

include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sgd_CompressionKind : I32EnumAttr<"CompressionKind", "what is sent of a value that is reduced", [
    I32EnumAttrCase<"BF16", 0, "bf16">, I32EnumAttrCase<"Int8", 1, "int8">, I32EnumAttrCase<"PowerSGD", 2, "powersgd">,
    I32EnumAttrCase<"TopK", 3, "top_k">]> {
  let cppNamespace = "::mlir::sgd";
}

def Sgd_CompressedReductionOp : Sgd_Op<"compressed_reduction", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Sums of partial values over their ranks, of which less than their elements is sent";
  let description = [{
    Each input is partial (by addition) over the same axes, the group; its result is reduced over them, whole or with these axes appended to one
    dimension. What ranks send and what they keep for the next step is said by the kind; each input has a size:

    * `bf16`: the input rounded to bf16, without state; the size is 0.
    * `int8`: integers of 8 bits with an f32 scale for each block of at most so many elements.
    * `powersgd`: the factors of an approximation of such a rank.
    * `top_k`: so many elements of largest magnitude of each rank, and their positions.

    The first is for f32 alone, others for bf16 and f16 too. Their state is the error, of f32: the input's shape behind a dimension of the group's ranks, what each rank has not sent yet. It is added
    to the input. PowerSGD has the right factor as well, from which the next step starts. States stand input by input; `next` are those of the next step.

    ```mlir
    %1, %error1 = sgd.compressed_reduction int8(%0) state(%error) sizes = [256]
      : (tensor<64x16xf32, #sgd.sharding<@mesh, [{}, {} ], unreduced={"data"}>>) -> tensor<64x16xf32, #sgd.sharding<@mesh, [{}, {} ]>>
      state (tensor<4x64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}, {} ]>>) -> tensor<4x64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}, {} ]>>
    ```
  }];
  let arguments = (ins Sgd_CompressionKind:$kind, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$state, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<AnyRankedTensor>:$results, Variadic<AnyRankedTensor>:$next);
  let assemblyFormat = [{
    $kind `(` $inputs `)` `state` `(` $state `)` `sizes` `=` $sizes attr-dict `:` functional-type($inputs, $results) `state` functional-type($state, $next)
  }];
  let hasVerifier = 1;
}

#endif
