// Calls of functions of the process that runs the program, in JAX's programs.
#ifndef SGD_FRONTENDS_STABLEHLO_HOST_CALL_LOWERING_H
#define SGD_FRONTENDS_STABLEHLO_HOST_CALL_LOWERING_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// The target of such a custom call.
inline constexpr llvm::StringLiteral kHostCallTarget = "sgd.host_call";

LogicalResult lowerHostCall(OpLowering& l);

}  // namespace mlir::sgd

#endif
