// The pass sgd-split-layers: one program, as a test gives it.
#include "passes/layers/passes.h"
#include "passes/layers/split_layers.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITLAYERSPASS
#include "passes/layers/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct SplitLayersPass : mlir::sgd::impl::SplitLayersPassBase<SplitLayersPass> {
  using SplitLayersPassBase::SplitLayersPassBase;

  void runOnOperation() override {
    llvm::Expected<Topology> found = loadTopology(topology);
    if (!found) {
      getOperation().emitError() << llvm::toString(found.takeError());
      return signalPassFailure();
    }
    splitLayers(getOperation(), stages, CostModel(*found, {}));
  }
};
}  // namespace
