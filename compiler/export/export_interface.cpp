// Files that hold models.
#include "compiler/export/export_interface.h"

using namespace mlir;
using namespace mlir::sgd;

#include "compiler/export/export_interface.cpp.inc"

void mlir::sgd::registerExports(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, plan::PlanDialect*) {
    registerAttentionExports(*context);
    registerCollectiveExports(*context);
    registerComputeExports(*context);
    registerHostCallExports(*context);
    registerLinearAlgebraExports(*context);
    registerTransferExports(*context);
  });
}
