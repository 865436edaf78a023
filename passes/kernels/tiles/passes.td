// Matmuls and kernels that are computed together, tile by tile.
#ifndef SGD_PASSES_KERNELS_TILES_PASSES_TD
#define SGD_PASSES_KERNELS_TILES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseTilesPass : Pass<"sgd-fuse-tiles", "::mlir::func::FuncOp"> {
  let summary = "Matmuls around a cluster, with large tensors between them only, become one fusion.tiled";
  let description = [{
    Before: ops are in clusters. After: where matmuls feed a kernel large tensors or read them from it (attention, forward
    and backward), all of them are computed together: once per batch index, in blocks of rows, so that values between them stay in the
    cache. Reductions over rows accumulate block by block, in order. Large results that a later group reads are computed again in it where
    that costs less than keeping them. Columns that a mask known at compile time sends to at most -1e8 before the exponential are left out,
    in all matmuls too: their weights are exactly zero. (NaN or infinity in masked columns then stays hidden.) Sharding rules and labels
    alone say how ops are cut.

    Groups without a common batch dimension, with less than 32 KiB between the ops of a tile, or whose kernels would get parts that are not
    contiguous, stay as they are.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [Option<"scratchBytes", "scratch-bytes", "int64_t", "655360",
                        "Most bytes of the values between the ops of a tile: half of a core's cache; 0: no tiles">,
                 Option<"flopsPerByte", "flops-per-byte", "int64_t", "20",
                        "Operations that take a thread as long as writing and reading a byte of memory: values are recomputed where that is cheaper">];
}

#endif
