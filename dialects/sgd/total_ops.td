// Elementwise ops whose arith forms are undefined on some inputs; results there are XLA's. They act on tensors, and on scalars inside kernels.
#ifndef SGD_DIALECTS_SGD_TOTAL_OPS_TD
#define SGD_DIALECTS_SGD_TOTAL_OPS_TD

include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

class Sgd_TotalBinaryOp<string mnemonic> : Sgd_Op<mnemonic, [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Sgd_DivSIOp : Sgd_TotalBinaryOp<"divsi"> { let summary = "Signed quotient rounded to zero; x/0 = -1, INT_MIN/-1 = INT_MIN"; }
def Sgd_DivUIOp : Sgd_TotalBinaryOp<"divui"> { let summary = "Unsigned quotient; x/0 = all ones"; }
def Sgd_RemSIOp : Sgd_TotalBinaryOp<"remsi"> { let summary = "Signed remainder with the dividend's sign; x rem 0 = x, INT_MIN rem -1 = 0"; }
def Sgd_RemUIOp : Sgd_TotalBinaryOp<"remui"> { let summary = "Unsigned remainder; x rem 0 = x"; }
def Sgd_ShLIOp : Sgd_TotalBinaryOp<"shli"> { let summary = "Left shift; by the width or more = 0"; }
def Sgd_ShRUIOp : Sgd_TotalBinaryOp<"shrui"> { let summary = "Logical right shift; by the width or more = 0"; }
def Sgd_ShRSIOp : Sgd_TotalBinaryOp<"shrsi"> { let summary = "Arithmetic right shift; by the width or more = the sign"; }

class Sgd_FloatToIntOp<string mnemonic> : Sgd_Op<mnemonic, [Pure, SameOperandsAndResultShape] # ElementwiseMappable.traits> {
  let arguments = (ins FloatLike:$input);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
}
def Sgd_FPToSIOp : Sgd_FloatToIntOp<"fptosi"> { let summary = "Rounds to zero; saturates; NaN = 0"; }
def Sgd_FPToUIOp : Sgd_FloatToIntOp<"fptoui"> { let summary = "Rounds to zero; saturates at 0 and the largest; NaN = 0"; }

#endif
