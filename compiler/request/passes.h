// Passes on the request of a compilation; see passes.td.
#ifndef SGD_COMPILER_REQUEST_PASSES_H
#define SGD_COMPILER_REQUEST_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "compiler/request/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/request/passes.h.inc"

}  // namespace mlir::sgd

#endif
