// The attribute that says what an argument or a result of a program is for.
#ifndef SGD_DIALECTS_SGD_ROLES_TD
#define SGD_DIALECTS_SGD_ROLES_TD

include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/EnumAttr.td"

def Sgd_RoleEnum : I32EnumAttr<"Role", "what an argument or a result of a program is for", [
    // Of arguments.
    I32EnumAttrCase<"Parameter", 0, "parameter">,              // floats that training changes so that the loss gets smaller
    I32EnumAttrCase<"OptimizerState", 1, "optimizer_state">,   // state that the loss does not depend on
    I32EnumAttrCase<"Buffer", 2, "buffer">,                    // other state that the loss reads: keys, tables
    I32EnumAttrCase<"Input", 3, "input">,                      // fed to each step
    I32EnumAttrCase<"Generator", 4, "generator">,              // the state of stablehlo.rng, [key, counter]: starts from the seed
    I32EnumAttrCase<"CompressionError", 5, "compression_error">,  // what compressed reductions keep for the next step: starts as zeros
    // Of results that are not carried.
    I32EnumAttrCase<"Loss", 6, "loss">,                        // what training makes smaller
    I32EnumAttrCase<"Metric", 7, "metric">,                    // reported to the user
    I32EnumAttrCase<"Commit", 8, "commit">]> {                 // where it is false, carried state keeps its values
  let cppNamespace = "::mlir::sgd";
  let genSpecializedAttr = 0;
}
def Sgd_Role : EnumAttr<Sgd_Dialect, Sgd_RoleEnum, "role"> {
  let summary = "What an argument or a result of a program is for";
  let description = [{
    `sgd.role = #sgd.role<parameter>`. An argument is a `parameter`, `optimizer_state`, a `buffer`, an `input`, the state of a `generator` (two integers of 64 bits) or, where the compiler
    adds it, a `compression_error` (floats). A result is the `loss` (a floating-point scalar, one at most), a `metric`, or the `commit` (a scalar i1, one at most). A carried result has
    no role: it is the next value of its argument, whose role says what it is. Frontends, native text and recipes set roles; `sgd-assign-roles` sets those that are missing.
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif
