// Passes on what steps carry.
#ifndef SGD_PASSES_CARRY_PASSES_TD
#define SGD_PASSES_CARRY_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecideCarryPass : Pass<"sgd-decide-carry", "::mlir::func::FuncOp"> {
  let summary = "Results that are arguments of the next step are marked";
  let description = [{
    Runs on the imported program. `result[0].params['w']` is the next `state.params['w']` when the paths agree below one prefix of each and at least one
    value there is an update of its argument: parameters plus something, a decayed average, a key made of a key. Where several fit, as parameters and momentum
    do, and where there are no names, the values that each result is an update of decide, and only if the order of results and arguments says the same
    and no alias contradicts. An alias alone decides nothing: JAX pairs donated buffers by type and order.

    After: such a result has `sgd.carry`, the number of its argument, and `sgd.carry_basis`: `unchanged`, `names` or `dataflow`. An argument for which a result
    may be meant, but which one or whether is not known, has `sgd.carry_doubt`, a reason.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def KeepUncommittedPass : Pass<"sgd-keep-uncommitted", "::mlir::func::FuncOp"> {
  let summary = "State stays as it was where a step says that it is not to be committed";
  let description = [{
    Runs when it is known what steps carry, before anything is sharded. One result may decide: the one with `sgd.commit`, else the one whose name ends with
    `commit`, if that is a scalar i1 that is not carried.

    After: this result has `sgd.commit`, and each carried result is a select between the new value and the argument. Kernels that compute the new value
    fuse the select, and updates stay in place.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::sgd::SgdDialect"];
}

#endif
