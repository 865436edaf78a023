// Passes that search; see passes.td.
#ifndef SGD_COMPILER_SEARCH_PASSES_H
#define SGD_COMPILER_SEARCH_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "compiler/search/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/search/passes.h.inc"

}  // namespace mlir::sgd

#endif
