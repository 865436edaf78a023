// Reading StableHLO: the input dialects, and their lowering to the graph level. The only header
// that the compiler includes from here.
#ifndef SGD_FRONTENDS_STABLEHLO_IMPORT_H
#define SGD_FRONTENDS_STABLEHLO_IMPORT_H

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

struct ImportOptions {
  /// A loop that counts to a known bound is unrolled when it becomes at most so many ops, a quarter of that with more
  /// than 8 iterations; its first iteration always is when it is the only one.
  int64_t unrolledOps = 4000;
  /// Loops over rows of stacked values, as scans over layers are, stay loops: each stage of a pipeline will have some.
  bool keepsLayerLoops = false;
  /// Matmuls of f32 whose precision is the default may be computed in TF32 by targets that have it.
  bool allowTf32 = false;
  /// Lower Fourier transforms to matmuls with tables, for targets without code for them.
  bool transformsByMatmuls = false;
};

/// True when `module` holds an op of an input dialect, or attributes that JAX puts on each module.
bool usesStablehlo(ModuleOp module);

/// Replaces each public function by its graph-level form (private functions are inlined) and the
/// meshes of `sdy` by one `sgd.mesh`. On failure what is not supported or not consistent has been
/// reported at the user's source location, and `module` is not to be used.
LogicalResult importStablehlo(ModuleOp module, const ImportOptions& options = {});

/// Names of the ops of the input dialects that have a lowering, sorted; others are refused by name.
SmallVector<std::string> getSupportedInputOps();

}  // namespace mlir::sgd

#endif
