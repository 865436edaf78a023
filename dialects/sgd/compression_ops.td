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

def Sgd_CompressedReductionOp : Sgd_Op<"compressed_reduction", [Pure]> {
  let summary = "The sum of a partial value over its ranks, of which less than its elements is sent";
  let description = [{
    The input is partial (by addition) over some axes, its group; the result is reduced over them, whole or with these axes appended to one dimension.
    What ranks send and what they keep for the next step is said by the kind:

    * `bf16`: the input rounded to bf16, without state. `size` is 0.
    * `int8`: integers of 8 bits with an f32 scale for each block of `size` elements.
    * `powersgd`: the factors of an approximation of rank `size`.
    * `top_k`: the `size` elements of largest magnitude of each rank, and their positions.

    The state of all but the first is the error: the input's shape behind a dimension of the group's ranks, what each rank has not sent yet. It is added
    to the input. PowerSGD has the right factor as well, from which the next step starts. Results behind the first are the next step's state.

    ```mlir
    %1, %error1 = sgd.compressed_reduction int8 %0(%error) size = 256
      : (tensor<64x16xf32, #sgd.sharding<@mesh, [{}, {} ], unreduced={"data"}>>, tensor<4x64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}, {} ]>>)
     -> (tensor<64x16xf32, #sgd.sharding<@mesh, [{}, {} ]>>, tensor<4x64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}, {} ]>>)
    ```
  }];
  let arguments = (ins Sgd_CompressionKind:$kind, AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$state, I64Attr:$size);
  let results = (outs AnyRankedTensor:$result, Variadic<AnyRankedTensor>:$next);
  let assemblyFormat = "$kind $input `(` $state `)` `size` `=` $size attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
