// A custom call that names the function which computes it becomes a call of that.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: math.sin %arg0
// CHECK-NOT: func.func @body
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {called_computations = [@body]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@CustomSPMDPartitioning names a Python object of the process that exported the program where its body should be}}
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {backend_config = "140525559448976"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
