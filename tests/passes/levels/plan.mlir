// Ops that may be in a plan: instructions, and kernels whose code is still ops on tensors.
// RUN: sgd-opt %s --split-input-file --sgd-verify-level=level=plan --verify-diagnostics

plan.kernel @double {
  %0 = fusion.cluster() {
    %c = arith.constant dense<2.0> : tensor<8xf32>
    fusion.yield %c : tensor<8xf32>
  } : () -> tensor<8xf32>
}
func.func @plan() -> memref<8xf32, #plan.space<private>> {
  %0 = plan.alloc : memref<8xf32, #plan.space<private>>
  return %0 : memref<8xf32, #plan.space<private>>
}

// -----

func.func @kernel(%a: tensor<8xf32>) {
  // expected-error @below {{fusion.cluster is left over after lowering to the plan; expected instructions and kernels; sgd-lower-to-plan should have removed it (this is a bug of sgdc, please report it)}}
  %0 = fusion.cluster(%a) {
  ^bb0(%b: tensor<8xf32>):
    fusion.yield %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @collective(%a: tensor<8xf32>) {
  // expected-error @below {{spmd.all_reduce is left over after lowering to the plan; expected instructions and kernels; sgd-lower-to-plan should have removed it}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}
