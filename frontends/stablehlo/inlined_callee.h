// Calls of StableHLO programs.
#ifndef SGD_FRONTENDS_STABLEHLO_INLINED_CALLEE_H
#define SGD_FRONTENDS_STABLEHLO_INLINED_CALLEE_H

#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/text/inlined_ops.h"

namespace mlir::sgd {

/// The function that the importer inlines instead of a call or a composite; null for none.
inline FlatSymbolRefAttr getInlinedCallee(Operation* op) {
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op)) return composite.getDecompositionAttr();
  return getCalledFunction(op);
}

}  // namespace mlir::sgd

#endif
