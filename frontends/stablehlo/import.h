// Reading StableHLO: the input dialects, and their lowering to the graph level.
#ifndef SGD_FRONTENDS_STABLEHLO_IMPORT_H
#define SGD_FRONTENDS_STABLEHLO_IMPORT_H

#include "frontends/frontend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

/// Adds `stablehlo`, `chlo`, `sdy` and the dialects that the graph level uses.
void registerStablehloDialects(DialectRegistry& registry);

#define GEN_PASS_DECL
#include "frontends/stablehlo/passes.h.inc"

// Defines registerStablehloPasses(), which registers `sgd-import-stablehlo`.
#define GEN_PASS_REGISTRATION
#include "frontends/stablehlo/passes.h.inc"

/// Replaces each public function by its graph-level form (private functions are inlined) and the
/// meshes of `sdy` by one `sgd.mesh`. On failure what is not supported or not consistent has been
/// reported at the user's source location, and `module` is not to be used.
LogicalResult importStablehlo(ModuleOp module, const ImportOptions& options = {});

/// This folder's frontend.
const Frontend& getStablehloFrontend();

/// Names of the ops of the input dialects that have a lowering, sorted; others are refused by name.
SmallVector<std::string> getSupportedInputOps();

}  // namespace mlir::sgd

#endif
