// The trait of ops whose region is a function of scalars (scalar_body.h).
#ifndef SGD_DIALECTS_SGD_SCALAR_BODY_TD
#define SGD_DIALECTS_SGD_SCALAR_BODY_TD

include "mlir/IR/OpBase.td"

def Sgd_HasScalarBody : NativeOpTrait<"HasScalarBody"> { let cppNamespace = "::mlir::sgd"; }

#endif
