// The order of the rewrites; see prepare.h.
#include "frontends/stablehlo/prepare/prepare.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::prepareInput(ModuleOp module) {
  if (removeCallbacks(module).failed()) return failure();
  if (removeTokens(module).failed()) return failure();
  if (callBodies(module).failed()) return failure();
  if (moveLapackOperands(module).failed()) return failure();
  if (createReplicaAxis(module).failed()) return failure();
  if (createManualComputations(module).failed()) return failure();
  if (unifyMeshes(module).failed()) return failure();
  if (threadGeneratorState(module).failed()) return failure();
  return widenNarrowIntegers(module);
}
