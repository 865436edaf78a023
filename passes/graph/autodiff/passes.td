// Passes of reverse-mode differentiation.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_PASSES_TD
#define SGD_PASSES_GRAPH_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"sgd-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Adds the gradients of a scalar result to a function's results";
  let description = [{
    The gradients of result `result` by the arguments `arguments` (all of floats where none is named) become further results, in this order. The
    forward ops stay; loops keep in stacks what their gradients read. Fails at an op that a gradient would go through and that has no derivative.
    An op marked `sgd.no_gradient` counts as a constant.

        func.func @f(%x: tensor<4xf32>) -> tensor<f32>                     // sum of squares
        func.func @f(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)    // and 2 x
  }];
  let options = [
    Option<"result", "result", "unsigned", "0", "position of the scalar">,
    ListOption<"arguments", "arguments", "unsigned", "positions of arguments">
  ];
  let statistics = [Statistic<"numGradients", "gradients", "Gradients written">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::sgd::SgdDialect"];
}

#endif
