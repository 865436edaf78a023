// Sums over the spaces of a program, or of the stage that needs most.
#include "passes/plan/memory/arena_bytes.h"

#include "passes/plan/memory/passes.h"

using namespace mlir;
using namespace mlir::sgd;

uint64_t mlir::sgd::getArenaBytes(ModuleOp plan) {
  uint64_t most = 0;
  if (auto stages = plan->getAttrOfType<ArrayAttr>(kStageBytesAttr)) {
    for (auto sizes : stages.getAsRange<DenseI64ArrayAttr>()) most = std::max<uint64_t>(most, sizes[0] + sizes[1]);
    return most;
  }
  for (StringRef name : {kPrivateBytesAttr, kWindowBytesAttr})
    if (auto bytes = plan->getAttrOfType<IntegerAttr>(name)) most += bytes.getInt();
  return most;
}

uint64_t mlir::sgd::getHostBytes(ModuleOp plan) {
  auto bytes = plan->getAttrOfType<IntegerAttr>(kHostBytesAttr);
  return bytes ? bytes.getInt() : 0;
}
