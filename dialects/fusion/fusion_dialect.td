// The dialect and the base class of its ops.
#ifndef SGD_DIALECTS_FUSION_DIALECT_TD
#define SGD_DIALECTS_FUSION_DIALECT_TD

include "mlir/IR/OpBase.td"

def Fusion_Dialect : Dialect {
  let name = "fusion";
  let cppNamespace = "::mlir::fusion";
  let summary = "The kernel level: what becomes one kernel or one library call, on local tensors";
  let description = [{
    Exists from the first pass of the kernel stage until `sgd-lower-to-plan`. A `fusion.cluster` is a fusion, in XLA's word: ops of the graph level that
    become one kernel. Beside it stand calls: matmuls, convolutions and attention, with the layouts of their operands folded in, and
    with an epilogue where the target's library takes one (`library_*`). Views, constants, collectives, loops and branches stay as they are at the SPMD level.

    Values are tensors with local shapes and without encodings. Dimensions of calls have labels instead of an order: equal labels name one dimension.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

class Fusion_Op<string mnemonic, list<Trait> traits = []> : Op<Fusion_Dialect, mnemonic, traits>;

#endif
