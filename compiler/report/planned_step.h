// The step of a plan: exported, and executed by the clock as sgd-sim executes its artifact.
#ifndef SGD_COMPILER_REPORT_PLANNED_STEP_H
#define SGD_COMPILER_REPORT_PLANNED_STEP_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/clock/step_clock.h"
#include "passes/cost/topology.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Of the program that reports are about (getReportedFunction) of a plan-level module with offsets. `exported` is what
/// exportPlan made of the plan, with its target. Fails with an error on programs that are too long.
FailureOr<StepTimes> timeStep(ModuleOp plan, const ::sgd::artifact::ArtifactT& exported, const Topology& topology);

/// The same of a plan that is not exported yet, for `target`, as Artifact.target calls it.
FailureOr<StepTimes> timeStep(ModuleOp plan, StringRef target, const Topology& topology);

}  // namespace mlir::sgd

#endif
