// Callbacks whose results nobody uses go with a warning, and so does the check of equinox.error_if.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @printed(
// CHECK-NEXT: return %arg0
func.func @printed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning@+1 {{a Python callback (jax.debug.print, jax.debug.callback or io_callback) is dropped}}
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

// One warning for a function that is called twice; a callback that only feeds another one goes too.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: callback
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @xla_python_gpu_callback(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-warning@+1 {{a Python callback (jax.debug.print, jax.debug.callback or io_callback) is dropped}}
  %1 = stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%0) {has_side_effect = true} : (tensor<4xf32>) -> tensor<f32>
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @checked(
// CHECK-NEXT: return %arg0
func.func @checked(%x: tensor<4xf32>, %failed: tensor<i32>) -> tensor<4xf32> {
  // expected-warning@+1 {{the check of equinox.error_if is dropped: its values pass as if it held}}
  %0 = "stablehlo.case"(%failed) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %message = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%message) : (tensor<i32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%1, %message) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @computes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@xla_ffi_python_cpu_callback calls a Python function of the process that exported the program and uses its result}}
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A branch that asks Python for a value is no check: the value may be any function of the index.
func.func @branch(%x: tensor<4xf32>, %index: tensor<i32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%index) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    // expected-error@+1 {{calls a Python function of the process that exported the program and uses its result}}
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%index) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
