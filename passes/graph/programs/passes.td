// Passes over the programs of one artifact, as modules inside of the module of a compilation.
#ifndef SGD_PASSES_GRAPH_PROGRAMS_PASSES_TD
#define SGD_PASSES_GRAPH_PROGRAMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareMeshPass : Pass<"sgd-share-mesh", "::mlir::ModuleOp"> {
  let summary = "Gives every program the mesh of those that have one";
  let description = [{
    Runs on the module of a compilation, behind import. Programs of one artifact run on one mesh: two programs whose meshes differ are refused. After: all programs have a mesh `@mesh`
    and equal axes, or none has one.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def StackSummandsPass : Pass<"sgd-stack-summands", "::mlir::ModuleOp"> {
  let summary = "Arguments and results that are unreduced get a leading dimension of summands";
  let description = [{
    Runs on the module of a program, first of all with `--keep-unreduced`. An argument that is unreduced over axes of n ranks becomes the n summands,
    sharded over these axes along its new dimension 0, with `sgd.summands`; what used it uses their sum. A result becomes `sgd.summands` of the value.
    So a rank takes and gives tensors of the user's shape, with a dimension of size 1 in front, and the program means the same on any mesh.

    ```mlir
    func.func @main(%x: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{} ], unreduced={"x"}>})
    // becomes, on a mesh where "x" has 2 ranks,
    func.func @main(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {} ]>, sgd.summands}) {
      %sum = sgd.reduce add %x dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
    ```

    After: no argument or result of a function has a sharding that is unreduced by addition. Where the axes have one rank, its sharding alone changes.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def PinArgumentsPass : Pass<"sgd-pin-arguments", "::mlir::ModuleOp"> {
  let summary = "Marks arguments that several programs share";
  let description = [{
    Runs on the module of a compilation. Arguments of equal names in several programs are one tensor, with one sharding and one buffer. After: they have `sgd.pinned`, so that no pass
    chooses another sharding for one program alone.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def CheckSharedStatePass : Pass<"sgd-check-shared-state", "::mlir::ModuleOp"> {
  let summary = "Warns of programs of one artifact that have no state in common";
  let description = [{
    Runs on the module of a compilation, when it is known what a step carries. Programs share state by the names of arguments. Warns where a program takes tensors and none of them has the
    name of one that another program carries from step to step, and where two programs carry different tensors. Names that differ in the first part alone, the user's own argument, count
    as equal: `params['w']` and `state['w']`. Changes nothing.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def JoinProgramsPass : Pass<"sgd-join-programs", "::mlir::ModuleOp"> {
  let summary = "Moves the functions of all programs into the module of the compilation";
  let description = [{
    Runs on the module of a compilation, before programs share buffers. Names of functions are distinct, and the programs' meshes are equal. After: the compilation has the mesh and the attributes of its first program, the functions of all programs in
    their order, and no module inside of it.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

#endif
