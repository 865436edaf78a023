// The order of the rewrites; see prepare.h.
#include "frontends/stablehlo/prepare/prepare.h"

#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::prepareInput(ModuleOp module) {
  module.getContext()->loadDialect<chlo::ChloDialect, sdy::SdyDialect, stablehlo::StablehloDialect>();
  if (removeCallbacks(module).failed()) return failure();
  if (removeTokens(module).failed()) return failure();
  if (callBodies(module).failed()) return failure();
  if (createReplicaAxis(module).failed()) return failure();
  if (createManualComputations(module).failed()) return failure();
  if (unifyMeshes(module).failed()) return failure();
  if (threadGeneratorState(module).failed()) return failure();
  return widenNarrowIntegers(module);
}
