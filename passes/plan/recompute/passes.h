// Memory for time: recomputation and offload within a budget of bytes; see passes.td.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_PASSES_H
#define SGD_PASSES_PLAN_RECOMPUTE_PASSES_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/plan/recompute/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/recompute/passes.h.inc"

/// Bytes that the program of `plan` with the highest peak has alive beside arguments and constants, estimated before
/// buffers are shared; with `offload`, an option of sgd-recompute, states that may be on the host are among them. Fails
/// with an error when the topology cannot be read.
FailureOr<int64_t> estimateAliveBytes(ModuleOp plan, StringRef topologyName, StringRef offload = "never");

/// The smallest budget that sgd-recompute meets in every program, to 1/256 of their peaks.
FailureOr<int64_t> findLeastBudget(ModuleOp plan, StringRef topologyName, StringRef offload = "never");

}  // namespace mlir::sgd

#endif
