// How ops act on values that are still to be summed up or otherwise combined, and which ops compute nothing.
#ifndef SGD_DIALECTS_SGD_LINEAR_OP_TD
#define SGD_DIALECTS_SGD_LINEAR_OP_TD

include "mlir/IR/OpBase.td"

def Sgd_LinearOpInterface : OpInterface<"LinearOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    In which operands the op is linear: whether it may come before a reduction that it is written behind. Says what is true of numbers, up
    to rounding; its use by a pass (that sums are not rounded to fewer bits before they are complete, say) is the pass's own matter.
  }];
  let methods = [InterfaceMethod<"See `Linearity`.", "::mlir::sgd::Linearity", "getLinearity",
    (ins "unsigned":$operand, "::mlir::sgd::ReduceKind":$kind), "",
    // Ops that only declare the interface move elements of one operand: linear whatever combines them.
    "return ::mlir::sgd::Linearity::Alone;">];
}

/// See the C++ class. Nothing is computed.
def Sgd_MovesElements : NativeOpTrait<"MovesElements"> { let cppNamespace = "::mlir::sgd"; }

#endif
