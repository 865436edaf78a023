// Passes that make a mesh and annotations of a recipe, and of flags that say the same.
#ifndef SGD_COMPILER_RECIPE_PASSES_TD
#define SGD_COMPILER_RECIPE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Sgd_RecipePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def MakeTrainingPass : Sgd_RecipePass<"sgd-make-training"> {
  let summary = "Makes the programs init, train and eval of a forward model";
  let description = [{
    Runs first where the recipe has the field `train`. Before: the compilation has one program, whose function computes a loss of parameters and inputs. After: it has three. `train` is the
    forward pass, its gradients (`sgd-differentiate`), and the update of each parameter by the optimizer, whose state has the names `optimizer/SLOT/NAME`; `eval` is the forward pass; `init` gives the
    optimizer's state. Arguments and results have roles, and results that are state name the arguments that they are in the next step. Where ranks share the batch,
    matrices of equal size that Muon updates are rows of one argument, which says what the rows are for the user (`sgd.part_names`) and which axes shard it (`sgd.axes`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::sgd::SgdDialect"];
}

def MarkLossesPass : Sgd_RecipePass<"sgd-mark-losses"> {
  let summary = "Gives the result that the user names the role of the loss";
  let description = [{
    Reads the field `loss` of the recipe, or the flag of the same name, in `sgd.request`. Before: what steps carry is decided (`sgd-decide-carry`). After: the result that has this name has the role
    `loss`, and no other one. A name that no program has, and one of a result that is no floating-point scalar or is carried, are errors. Without a name, the roles that programs have stay, and
    `sgd-assign-roles` sets those that are missing.
  }];
}

def DropAnnotationsPass : Sgd_RecipePass<"sgd-drop-annotations"> {
  let summary = "Leaves out the mesh and the shardings that programs have, where the recipe ignores them";
  let description = [{
    After: a program is as it would be for one device. Programs of which parts were written for one rank (`sgd.was_manual`) are refused.
  }];
}

def SetMeshPass : Sgd_RecipePass<"sgd-set-mesh"> {
  let summary = "Gives programs the axes of the recipe's mesh, and axes the sizes of --mesh";
  let description = [{
    Axes of the recipe come in its order behind others that the programs have; those that programs have too keep nothing of theirs but the name. Sizes of the flag come last. An axis of
    the flag that the mesh has not is an error.
  }];
}

def SetStagesPass : Sgd_RecipePass<"sgd-set-stages"> {
  let summary = "Gives meshes the stage axis and the schedule of a recipe whose stages are a number";
  let description = [{
    After: `sgd.mesh` has `sgd.stages` and `sgd.schedule`. Stages that are a list are left to `sgd-match-stages`: which arguments they have is known when the arguments are final.
  }];
}

def AnnotatePass : Sgd_RecipePass<"sgd-annotate"> {
  let summary = "Shards arguments, results and values as the recipe says";
  let description = [{
    Before: programs are one function each, whose carried results and roles are decided; their mesh is final. After: rules, batch and ZeRO stage are annotations, as if the author of the programs had
    written them; an annotation of the program's own gives way, with a remark. Compressed axes are in `sgd.compress`. What
    arguments and ops ask for by `sgd.axes` is an annotation too.
  }];
}

def MatchStagesPass : Sgd_RecipePass<"sgd-match-stages"> {
  let summary = "Gives arguments the stages that a recipe lists";
  let description = [{
    After: meshes have the stage axis and the schedule, and arguments that an entry matches have their virtual stage (`sgd.stage`): by name, or, of what is no input, because an op of the forward pass
    reads them in a scope that matches. The first entry that matches decides. An entry that decides none in any program is an error.
  }];
}

def CutBatchPass : Sgd_RecipePass<"sgd-cut-batch"> {
  let summary = "Cuts the batch over a sequential axis";
  let description = [{
    The axis is that of `--micro`, or of the recipe's field `sequential`. Annotations are final. After: meshes have it as `sgd.sequential`, and inputs of the batch have `sgd.sequential_dim`, the dimension
    of their rows: those whose rows are sharded, and those with as many rows that no annotation speaks of. Where none is sharded, all that no annotation speaks of, and where there is none, all with
    rows; these must have equally many. A program that carries no state, beside others, stays whole, with a remark, where its rows are not so many equal parts.
  }];
}

def CheckCompressionPass : Sgd_RecipePass<"sgd-check-compression"> {
  let summary = "Refuses compressed axes over which no reduction was compressed";
  let description = [{
    Runs behind `sgd-compress-reductions`. The error says why nothing is compressed over the axis. Axes of one rank need no compression.
  }];
}

#endif
