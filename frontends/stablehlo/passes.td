// The passes of this frontend: the way in, and the way back.
#ifndef SGD_FRONTENDS_STABLEHLO_PASSES_TD
#define SGD_FRONTENDS_STABLEHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportStablehloPass : Pass<"sgd-import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Lowers stablehlo, chlo and sdy to the graph level";
  let description = [{
    Before: functions of the ops that JAX prints, with shardings as `sdy` attributes or as `mhlo.sharding` strings.

    Each public function is rewritten op by op; calls are inlined, and inlined ops keep their location as callee of the call's location.
    Unsigned integers become signless, signedness goes into the op and, for arguments and results, into `sgd.unsigned`. The mesh
    becomes `sgd.mesh` (strings imply one with axes axis_0, axis_1, ...), annotations become `sgd.sharding` and `sgd.sharding_constraint`,
    donation `sgd.alias_output` and `sgd.donated`, the model's own names `sgd.name`.

    After: only `func`, `arith`, `math` and `sgd` on tensors of static shape. An op without a lowering is an error at its location.
  }];
  let options = [Option<"transformsByMatmuls", "transforms-by-matmuls", "bool", "false", "Lower Fourier transforms to matmuls with tables, for targets without code for them">,
    Option<"keepUnreduced", "keep-unreduced", "bool", "false", "Keep arguments and results unreduced, for sgd-stack-summands; otherwise they are whole">];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::sdy::SdyDialect", "::mlir::stablehlo::StablehloDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect", "::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
}

def ExportStablehloPass : Pass<"sgd-export-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Writes the SPMD level in ops of stablehlo and chlo";
  let description = [{
    Before: a program at the SPMD level. After: what one of `mhlo.num_partitions` partitions computes on its shards, in ops of `stablehlo` and `chlo`. Ranks are partitions; groups of
    collectives, which are mesh axes before, are lists of them. Gathered ranges that are halos or shifts become permutes of slices.

    Unsigned integers are unsigned in arguments, results and the ops that need it; `stablehlo.bitcast_convert` stands between. Loops with known trips count them. An op without a
    counterpart becomes a `custom_call` with its name as the target and its attributes as the `backend_config`. `sgdc --emit=stablehlo` prints the result.
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}

#endif
