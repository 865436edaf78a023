// The pass of this frontend.
#ifndef SGD_FRONTENDS_STABLEHLO_PASSES_TD
#define SGD_FRONTENDS_STABLEHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportStablehloPass : Pass<"sgd-import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Lowers stablehlo, chlo and sdy to the graph level";
  let description = [{
    Before: functions of the ops that JAX prints, with shardings as `sdy` attributes or as `mhlo.sharding` strings.

    Each public function is rewritten op by op; calls are inlined, and what is inlined keeps its place as callee of the place of the call.
    Unsigned integers become signless, signedness goes into the op and, for arguments and results, into `sgd.unsigned`. The mesh
    becomes `sgd.mesh` (strings imply one with axes axis_0, axis_1, ...), annotations become `sgd.sharding` and `sgd.sharding_constraint`,
    donation `sgd.alias_output` and `sgd.donated`, the model's own names `sgd.name`.

    After: only `func`, `arith`, `math` and `sgd` on tensors of static shape. What has no lowering is an error on the op.
  }];
  let options = [Option<"transformsByProducts", "transforms-by-products", "bool", "false", "Fourier transforms become products with tables, for targets without code for them">];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::sdy::SdyDialect", "::mlir::stablehlo::StablehloDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect", "::mlir::sgd::SgdDialect", "::mlir::spmd::SpmdDialect"];
}

#endif
