// Messages between the stages of a pipeline; see passes.td.
#ifndef SGD_PASSES_PLAN_CHANNELS_PASSES_H
#define SGD_PASSES_PLAN_CHANNELS_PASSES_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/plan/channels/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/channels/passes.h.inc"

}  // namespace mlir::sgd

#endif
