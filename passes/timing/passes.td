// Estimated times, for tests and for people.
#ifndef SGD_PASSES_TIMING_PASSES_TD
#define SGD_PASSES_TIMING_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintTimesPass : Pass<"sgd-print-times", "::mlir::ModuleOp"> {
  let summary = "Remarks the time of each program by the cost model";
  let description = [{
    Of a module of any level: on each function that no other one runs, its seconds on the topology, all ops one after another. Collectives and copies that
    the plan has in flight count as if nothing ran beside them, and each launch of a group by itself, so that levels before and after the choice of an order compare.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"printOps", "ops", "bool", "false", "Remark each op that takes time, too">];
}

#endif
