// Passes that cut a program in time: the coordinates of a sequential axis are iterations.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_PASSES_TD
#define SGD_PASSES_TIME_SEQUENTIAL_PASSES_TD

include "mlir/Pass/PassBase.td"

def PadBatchPass : Pass<"sgd-pad-batch", "::mlir::ModuleOp"> {
  let summary = "Pads batches whose rows are not equal parts over the sequential axis and the ranks";
  let description = [{
    Before: `sgd.mesh` may name a sequential axis, and arguments that are cut over it name a dimension (`sgd.sequential_dim`). Their rows may be
    any number. Nothing is sharded yet.

    After: the rows of these arguments are a multiple of the parts and of the ranks that share them. Where rows were added, an argument or result has
    `sgd.unpadded_type`, the type that users see. Rows behind those of that type are padding and may hold anything. What is
    computed from rows is computed from padding too, by ops whose sharding rules let rows pass. An op that sums over rows reads the neutral
    element there (`arith.select` by an `sgd.iota`); any other op reads rows without padding (`sgd.slice`).

    So a batch that does not divide is one that does from here on.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def ShardSequentialPass : Pass<"sgd-shard-sequential", "::mlir::ModuleOp"> {
  let summary = "Shards a program that is sharded over ranks over the sequential axis too";
  let description = [{
    Before: `sgd.mesh` may name a sequential axis (`sgd.sequential`), arguments that are cut over it name a dimension
    (`sgd.sequential_dim`), and every tensor has its sharding over the axes of ranks. Without such an axis nothing changes.

    After: the axis is the first one of the mesh. Every tensor is whole, cut along one dimension (major to the axes of ranks there) or
    partial over it; what is partial is reduced over the axis first, before any reduction over ranks, and what is needed in another
    state gets it by an `sgd.reshard`. Arguments without a dimension and the values that they become on the next step are whole.

    Inside of loops and branches no value can be reduced or gathered over the axis: sums that are carried or stacked stay partial there. A
    loop or branch that needs more is whole, and so computed for all coordinates at once; with `refuse` that is an error. Values of a loop that are whole and added to such a sum count in coordinate 0.

    Outside, sums are reduced as soon as they are summands, but behind conversions to a wider type, unless `sums-in-own-type`.
  }];
  let options = [Option<"refuse", "refuse", "bool", "false", "Refuse loops and branches that are computed for all coordinates at once">,
                 Option<"sumsInOwnType", "sums-in-own-type", "bool", "false", "Reduce sums before they are converted to a wider type">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def SplitBarriersPass : Pass<"sgd-split-barriers", "::mlir::ModuleOp"> {
  let summary = "Parts what differs along the sequential axis from what does not in optimization barriers";
  let description = [{
    Before: the program of one coordinate of the sequential axis on one rank (`sgd-localize`). After: an `sgd.optimization_barrier` has operands that differ between coordinates,
    or operands that do not. One with both, as a recomputed layer begins with, would be computed in a loop over coordinates, which gives parameters only when
    it has ended: what reads them would be in another loop.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def SplitLoopsPass : Pass<"sgd-split-loops", "::mlir::ModuleOp"> {
  let summary = "Computes loop results that do not differ along the sequential axis in loops of their own";
  let description = [{
    Before: the program of one coordinate of the sequential axis on one rank (`sgd-localize`). After: all results of an `sgd.while` differ between coordinates,
    or none does. A scan over layers that stacks both activations and broadcast parameters becomes two loops. Otherwise `sgd-form-loops` would have the parameters'
    stack only when a loop over coordinates has ended, and its readers would need another one.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def FormLoopsPass : Pass<"sgd-form-loops", "::mlir::ModuleOp"> {
  let summary = "Turns the coordinates of the sequential axis into iterations";
  let description = [{
    Before: the program of one coordinate of the sequential axis on one rank (`sgd-localize`), with reductions and gathers over that axis.
    After: the program of one rank. What differs along the axis is in `sgd.while` loops, one iteration per coordinate; reductions over the axis
    are accumulated in them, in f32 for floats of 16 bits unless `sums-in-own-type`, and what is gathered or needed by a later loop is stacked in place. All else
    is computed once. Values that need all coordinates separate one loop from the next; with `refuse`, values that a loop keeps of all coordinates for the next one, or that ops need of all, are errors.
  }];
  let options = [Option<"refuse", "refuse", "bool", "false", "Refuse what takes the memory of all coordinates">,
                 Option<"sumsInOwnType", "sums-in-own-type", "bool", "false", "Accumulate floats of 16 bits in their own type">];
  let statistics = [Statistic<"numLoops", "loops", "Loops over the sequential axis">,
                    Statistic<"numStacked", "stacked", "Values that a loop leaves for a later one">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
}

#endif
