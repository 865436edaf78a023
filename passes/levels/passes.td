// Verifiers that close each stage.
#ifndef SGD_PASSES_LEVELS_PASSES_TD
#define SGD_PASSES_LEVELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyLevelPass : Pass<"sgd-verify-level", "::mlir::ModuleOp"> {
  let summary = "Refuses ops that a stage should have removed, or that no stage before may make";
  let description = [{
    Compares every op with one table (`levels.cpp`), which says from which level to which an op may stand in a program, whether it may stand in a
    kernel, and which pass leaves none. An op that the table does not have is an error. What ops of a level must hold beyond that is
    verified by the ops, by `sgd-verify-sharding` and by `spmd-verify`. In the bodies of manual computations, which have local shapes at the graph level already,
    collectives may stand as well.

    The error is a bug of the compiler, not of the program:
    `sgd.reshard is left over after partitioning; expected local ops and collectives; sgd-localize should have removed it (this is a bug of sgdc, please report it)`.
  }];
  let options = [Option<"level", "level", "::mlir::sgd::Level", "::mlir::sgd::Level::Spmd", "Which stage has just ended", [{::llvm::cl::values(
      clEnumValN(::mlir::sgd::Level::Graph, "graph", "import"),
      clEnumValN(::mlir::sgd::Level::Sharded, "sharded", "sharding"), clEnumValN(::mlir::sgd::Level::Spmd, "spmd", "partitioning"),
      clEnumValN(::mlir::sgd::Level::Kernels, "kernels", "fusion into kernels and library calls"),
      clEnumValN(::mlir::sgd::Level::Plan, "plan", "lowering to the plan"))}]>];
}

#endif
