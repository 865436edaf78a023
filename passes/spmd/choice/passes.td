// Passes that compare whole programs.
#ifndef SGD_PASSES_SPMD_CHOICE_PASSES_TD
#define SGD_PASSES_SPMD_CHOICE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseShardingsPass : Pass<"sgd-choose-shardings", "::mlir::ModuleOp"> {
  let summary = "Adds annotations with which the whole program sends less";
  let description = [{
    Before: as `sgd-shard` wants it. Propagation starts from annotations, and conflicts are then resolved where they are; neither finds a form of the
    program in which nearly everything is sharded otherwise. This pass knows a few such forms and partitions a copy of the program in each of them as the
    passes after it would, with its reductions placed and its collectives in it: what that sends in a step (loops by their trips), computes and holds is
    its cost.

    The forms: a batch is sharded, inside the program, over axes that so far only parameters are sharded over; ranks then gather parameters instead of
    activations. Axes that constraints inside the program name are left to these, unless `constraints=weigh`, by which dropping all constraints is a
    form too.

    Programs with compressed reductions keep their form: a reduction is compressed over all of its axes or not at all.

    After: the cheapest form's annotations, `sgd.sharding_constraint` on arguments, and no constraints if it drops them; nothing else is changed. A form is taken if it
    sends no more and holds at most a tenth more, if what it saves in bytes and computed elements, 16 of which count as a byte, is 2 % of what is sent, and if arguments and
    results that the user annotated, or that other programs have too, keep the shardings that they have without it. `sgd.decisions` of
    the function say what was chosen.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"weighsConstraints", "weigh-constraints", "bool", "false", "Whether constraints on values inside the program may be dropped">,
                 Option<"sharedArePinned", "shared-are-pinned", "bool", "true", "Whether arguments that other programs of the artifact have too are marked (sgd.pinned): others without annotations may be sharded otherwise">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
  let statistics = [Statistic<"numCompared", "compared", "Forms of programs that were compared with the program as it is">,
                    Statistic<"numChosen", "chosen", "Programs that took another form">];
}

#endif
