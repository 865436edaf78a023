// Passes that move communication from one iteration of a loop to another.
#ifndef SGD_PASSES_TIME_PREFETCH_PASSES_TD
#define SGD_PASSES_TIME_PREFETCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrefetchGathersPass : Pass<"spmd-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "Gathers the parameters of a loop's next iteration beside the compute of this one";
  let description = [{
    Before: the SPMD level, collectives combined. A loop over layers whose parameters are sharded (ZeRO 3 with scanned layers) gathers a layer's parameters in its
    iteration, which then waits for the first of them. Of a loop of three or more known trips, gathers that depend on nothing but the number of the trip
    and what the loop leaves as it is move: the first iteration's stand before the loop, and iteration i gathers for i + 1, so that
    `sgd-overlap-collectives` has all of its compute to hide them behind. The last iteration stands behind the loop and gathers nothing, so that no more is sent than before; bits do not change.

    By the cost model: the first gathers of an iteration move, as many as it takes to hide what can be hidden, if that saves at least `least-saved` seconds in each iteration.
    On the host nothing moves, since ranks there gather with the cores that they compute with. What is gathered for the next iteration takes memory while this one runs:
    at most a sixteenth of the device's for each loop.

    After: `sgd.decisions` of the function name the loops.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"leastSaved", "least-saved", "double", "20e-6", "Seconds that an iteration must become shorter by">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
  let statistics = [Statistic<"numPrefetched", "prefetched", "Gathers that start an iteration ahead">];
}

#endif
