// Passes on what steps carry.
#ifndef SGD_PASSES_GRAPH_CARRY_PASSES_TD
#define SGD_PASSES_GRAPH_CARRY_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecideCarryPass : Pass<"sgd-decide-carry", "::mlir::func::FuncOp"> {
  let summary = "Results that are arguments of the next step are marked";
  let description = [{
    Runs on the imported program. `result[0].params['w']` is the next `state.params['w']` when the paths agree below one prefix of each and at least one
    value there is an update of its argument: parameters plus something, a decayed average, a key made of a key. Where several fit, as parameters and momentum
    do, and where there are no names, the values that each result is an update of decide, and only if the order of results and arguments says the same
    and no alias contradicts. An alias alone decides nothing: JAX pairs donated buffers by type and order.

    A function with `sgd.carry_is_known` stays as it is: its frontend, or the pass that made it, has said what its results are.

    After: such a result has `sgd.carry`, the number of its argument, and `sgd.carry_basis`: `unchanged`, `names` or `dataflow`. An argument for which a result
    may be meant, but which one or whether is not known, has `sgd.carry_doubt`, a reason.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def AssignRolesPass : Pass<"sgd-assign-roles", "::mlir::ModuleOp"> {
  let summary = "Arguments and results whose role nobody has set get one";
  let description = [{
    Runs on the programs of a compilation, or on one program, when it is known what steps carry. Roles (`sgd.role`) that frontends, native text or a recipe have set stay. Those that contradict
    what is carried are errors: a carried `input`, a carried result with a role, `optimizer_state` that a step does not carry, an `input` that another program has as state.

    After: each argument has a role, and so have results that are scalars and not carried.

    - `commit`: the scalar i1 whose name ends with `commit`.
    - `loss`: the floating-point scalar whose gradient updates the state, by names and dataflow; of a program that is written by stages, the first one.
    - `metric`: every other scalar.
    - A carried argument that the loss does not depend on is `optimizer_state`. Others are a `parameter`, or a `buffer` if they are no floats. Without a known loss, and in stages, nothing is `optimizer_state`.
    - An argument that is not carried has the role that it has in another program as state, by its name; else it is an `input`.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def KeepUncommittedPass : Pass<"sgd-keep-uncommitted", "::mlir::func::FuncOp"> {
  let summary = "State stays as it was where a step says that it is not to be committed";
  let description = [{
    Runs when roles are assigned (`sgd-assign-roles`), before anything is sharded. The result with the role `commit` decides.

    After: each carried result is a select between the new value and the argument. Kernels that compute the new value fuse the select, and updates stay in place.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::sgd::SgdDialect"];
}

#endif
