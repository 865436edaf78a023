// Passes that lower copies of a compilation in several ways and compare their plans.
#ifndef SGD_COMPILER_SEARCH_PASSES_TD
#define SGD_COMPILER_SEARCH_PASSES_TD

include "mlir/Pass/PassBase.td"

// Options and target are those of `sgd.request`. Dialects are declared in C++ (addDialectsOfStages).
class Sgd_SearchPass<string name> : Pass<name, "::mlir::ModuleOp">;

def ChooseSchedulePass : Sgd_SearchPass<"sgd-choose-schedule"> {
  let summary = "Lowers a pipeline by the schedule whose plan is the fastest";
  let description = [{
    Runs on the module of a compilation at the sharded level, whose mesh has a stage axis and a sequential axis of several parts. Lowers a copy of it by each schedule that the recipe leaves a choice of, to a plan
    of memory, and compares the estimates of a step. A later schedule must be 1 % faster. A schedule whose plan fits the memory limit precedes one whose plan does not; where none fits, the smallest peak decides.
    Schedules that cannot be faster than the best one so far are skipped: each computes as much as the busiest stage does.

    After: the plan level. Under a memory limit, the memory of the chosen schedule is planned as `sgd-plan-within-limit` does it. A remark names the schedule. Diagnostics of other schedules are dropped. Where none can be
    lowered, the first one's error is emitted.
  }];
  let options = [Option<"text", "text", "std::string", "\"\"", "spmd or kernels: the level at which `sgd.text` of the chosen schedule is noted">];
  let statistics = [Statistic<"numLowered", "lowered", "Schedules that were lowered">];
}

def PlanWithinLimitPass : Sgd_SearchPass<"sgd-plan-within-limit"> {
  let summary = "Lowers programs to the fastest plan that keeps the memory limit";
  let description = [{
    Runs on the module of a compilation with a memory limit, at the SPMD level, before communication is hidden. Alternatives are compared by their plans: the fastest one that fits the limit wins, else the one with the smallest peak.

    - As without a limit: with communication hidden and weights packed.
    - Where that does not fit and holds more than it must: from the SPMD level again, without either.
    - Where that does not fit: loops compute again what earlier loops stack, in up to six steps.
    - Plans of each of these, for several budgets of `sgd-recompute`, with and without collectives in flight, with and without offload.

    After: the plan level. Where no plan fits, the plan has the smallest peak, and `sgd-check-memory-limit` refuses it.
  }];
  let options = [Option<"text", "text", "std::string", "\"\"", "spmd or kernels: the level at which `sgd.text` of the chosen alternative is noted">];
}

def CheckMemoryLimitPass : Pass<"sgd-check-memory-limit", "::mlir::ModuleOp"> {
  let summary = "Refuses a plan that needs more than the memory limit";
  let description = [{
    Runs on the module of a compilation with a memory limit, at the plan level, behind a search. The error names the plan's peak, which is the smallest feasible limit, and the largest buffers.
  }];
}

def RecordUnsplitPeakPass : Sgd_SearchPass<"sgd-record-unsplit-peak"> {
  let summary = "Notes how much memory a step would need with the whole batch";
  let description = [{
    Runs on the module of a compilation at the sharded level, whose batch is cut over a sequential axis. Plans a copy of it without that axis. After: `sgd.unsplit_peak` of the module is that plan's peak in
    bytes, without constants, for a warning behind the plan. Nothing is noted where the whole batch cannot be planned.
  }];
}

#endif
