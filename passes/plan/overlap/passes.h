// The order of the plan's instructions: communication behind compute, launches in groups; see passes.td.
#ifndef SGD_PASSES_PLAN_OVERLAP_PASSES_H
#define SGD_PASSES_PLAN_OVERLAP_PASSES_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/plan/overlap/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/overlap/passes.h.inc"

}  // namespace mlir::sgd

#endif
