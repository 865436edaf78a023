// Passes that cut a program into the stages of a pipeline.
#ifndef SGD_PASSES_TIME_STAGES_PASSES_TD
#define SGD_PASSES_TIME_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareStagesPass : Pass<"sgd-share-stages", "::mlir::ModuleOp"> {
  let summary = "Puts state that several programs share on the stages on which the step has it";
  let description = [{
    Runs on the module of a compilation whose programs are those of one coordinate of the sequential axis (`sgd-localize`). After: arguments of the program that carries state have their virtual
    stage (`sgd.stage`), arguments and results of other programs that share them have the same one, and all meshes name one schedule. One program alone stays as it is.
  }];
  let options = [Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def FormStagesPass : Pass<"sgd-form-stages", "::mlir::ModuleOp"> {
  let summary = "Cuts each program into the stages of a pipeline";
  let description = [{
    Before: the program of one coordinate of the sequential axis on one rank of a stage (`sgd-localize`), where `sgd.mesh` names stages (`sgd.stages`, `sgd.schedule`); arguments may
    name their virtual stage (`sgd.stage`). Where `sgd.schedule` leaves a choice, the pass takes the first schedule: `sgdc` has compared them before and names one. Without stages nothing
    changes.

    After: a function per stage (`sgd.stage`, `sgd.program`), with the arguments and results that the stage has (`sgd.position`). What differs along the sequential axis is in
    `sgd.while` loops in the order of the schedule, as by `sgd-form-loops`. Values go from stage to stage by `spmd.send` and `spmd.receive`; what later tasks of a stage need
    is stored in rings of as many places as there are parts on the way. The axis of stages is the first one of the mesh.
  }];
  let options = [Option<"refuse", "refuse", "bool", "false", "Refuse what takes the memory of all coordinates">,
                 Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
}

def ShardMessagesPass : Pass<"sgd-shard-messages", "::mlir::ModuleOp"> {
  let summary = "Sends a part of what several ranks of a stage have alike from each of them";
  let description = [{
    Before: functions of stages at the SPMD level, in which each rank sends all that its peer needs. A message that is the same on ranks over some axes, by the analysis
    that proves collectives, is cut into a part for each of them where that takes less time: the links between stages carry it once, and the receivers gather it over
    theirs (scatter/gather of Narayanan et al., 2021). Parts are of elements next to each other; messages whose elements do not divide stay whole. After: `sgd.decisions`
    of functions say what was chosen, and why.
  }];
  let options = [Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
}

def PrintStagesPass : Pass<"sgd-print-stages", "::mlir::ModuleOp"> {
  let summary = "Says by remarks on which stage of a pipeline each op and argument is, and what is sent";
  let description = [{
    Runs on the program of one coordinate of the sequential axis (`sgd-localize`). For tests of the placement, and for a look at where a model would be cut. Changes
    nothing.
  }];
  let options = [Option<"stages", "stages", "unsigned", "2", "How many stages there are">,
                 Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
}

#endif
