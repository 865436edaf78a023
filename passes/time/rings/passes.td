// Passes that take communication and the matmul beside it apart.
#ifndef SGD_PASSES_TIME_RINGS_PASSES_TD
#define SGD_PASSES_TIME_RINGS_PASSES_TD

include "mlir/Pass/PassBase.td"

def RingMatmulsPass : Pass<"spmd-ring-matmuls", "::mlir::ModuleOp"> {
  let summary = "Computes matmuls of gathered operands, and with scattered results, block by block while blocks go around a ring";
  let description = [{
    Before: the SPMD level, collectives combined. A matmul whose operand is all-gathered along a dimension of rows waits for all of it; one whose result is
    reduce-scattered along such a dimension is waited for (tensor parallelism with a sequence-parallel residual stream). On n ranks:

    - *gathered*: each rank multiplies the rows that it has, while those of the rank behind it arrive, n times. Blocks go to their places in the result; where others read
      the gathered operand, it is put together as well. Each element of the result is computed as before, from the same row and column.
    - *scattered*: a block of the result starts on the rank behind its owner's and goes around; each rank adds its summands while the block before it travels. Sums are those of
      ranks one after another instead of in a balanced tree, for f32 and f64 alone: other bits than without, the same in each run of the artifact.

    n - 1 rotations send what the collective sends. `sgd-overlap-collectives` starts each of them before the matmul beside it.

    Parameters, which can be gathered early, and gradients, which nothing waits for, are left alone: they are hidden behind whatever else there is to do.

    By the cost model: a ring is taken if it is at least `least-saved` seconds shorter than the collective and the matmul one after the other, on two clocks, copies of blocks included.
    On the host none is, since ranks there exchange with the cores that they compute with.

    After: `sgd.decisions` of the function name the matmuls.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"leastSaved", "least-saved", "double", "20e-6", "Seconds that a ring must save">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numGathered", "gathered", "Matmuls of gathered operands in rings">,
                    Statistic<"numScattered", "scattered", "Matmuls with scattered results in rings">];
}

#endif
