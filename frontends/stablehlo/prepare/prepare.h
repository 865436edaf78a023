// Rewrites of an input module within its own dialects, before it is imported: each turns a form that only some exports
// have into one that all have, so that the importer knows one of each. In the order in which they run.
#ifndef SGD_FRONTENDS_STABLEHLO_PREPARE_PREPARE_H
#define SGD_FRONTENDS_STABLEHLO_PREPARE_PREPARE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// UnitAttr of sdy.manual_computation: its last result is the generator's state, and ranks may leave with different
/// ones.
inline constexpr llvm::StringLiteral kGeneratorMayDifferAttr = "sgd.generator_may_differ";

/// Runs all of them. What is neither understood nor harmless is reported at its op.
LogicalResult prepareInput(ModuleOp module);

/// Removes calls of Python functions of the exporting process whose results nobody uses, and equinox's error_if: with a
/// warning each. Refuses those whose results the program needs.
LogicalResult removeCallbacks(ModuleOp module);

/// Removes values of type `!stablehlo.token` from functions, calls and control flow: what they ordered is gone, or has
/// operands that order it.
LogicalResult removeTokens(ModuleOp module);

/// Replaces calls that carry what they compute as a function (partitioned by Python, or whatever a plugin makes of
/// them) by calls of it.
LogicalResult callBodies(ModuleOp module);

/// Turns calls of LAPACK with sizes and options as operands, as JAX 0.4 wrote them, into those with parameters.
LogicalResult moveLapackOperands(ModuleOp module);

/// Puts all meshes with axes on one of them: its axes, or sub-axes, replace the others' in shardings and
/// manual computations.
LogicalResult unifyMeshes(ModuleOp module);

/// Turns the ops between @SPMDFullToShardShape and @SPMDShardToFullShape into an `sdy.manual_computation`, and the
/// shardings of such a module, written as tile assignments, into those of `sdy`.
LogicalResult createManualComputations(ModuleOp module);

/// Turns a program for several replicas into one manual computation over an axis "replica". Arguments and results
/// become those of all replicas, along the dimension of size 1 that the program removes or adds, or else along a new
/// first one.
LogicalResult createReplicaAxis(ModuleOp module);

/// Turns integers of 2 and 4 bits into integers of 8 bits with the same values, which wrap around as the narrow ones
/// do. Of arguments of public functions the low bits count, as in a conversion.
LogicalResult widenNarrowIntegers(ModuleOp module);

/// Makes the generator that stablehlo.rng draws from a value: its state, two ui64, becomes the last argument and result
/// of each function that draws, `rng_state`, and is carried through loops and branches in the order of the program.
LogicalResult threadGeneratorState(ModuleOp module);

}  // namespace mlir::sgd

#endif
