// Tokens of ordered effects go from functions, calls, loops and branches; donation counts the results that are left.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<4xf32> {sgd.alias_output = 0 : i64}) -> (tensor<4xf32> {sgd.name = "result"})
// CHECK-NOT: token
func.func @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32> {tf.aliasing_output = 1 : i32})
    -> (!stablehlo.token {jax.token = true}, tensor<4xf32> {jax.result_info = "result"}) {
  // expected-warning@+1 {{a Python callback}}
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  %n = stablehlo.constant dense<100000> : tensor<i32>
  %1:3 = stablehlo.while(%a = %0, %i = %n, %y = %x) : !stablehlo.token, tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %2:2 = func.call @body(%a, %y) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %2#0, %j, %2#1 : !stablehlo.token, tensor<i32>, tensor<4xf32>
  }
  %fresh = stablehlo.create_token : !stablehlo.token
  %all = stablehlo.after_all %1#0, %fresh : !stablehlo.token
  return %all, %1#2 : !stablehlo.token, tensor<4xf32>
}
func.func private @body(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  // expected-warning@+1 {{a Python callback}}
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  return %0, %1 : !stablehlo.token, tensor<4xf32>
}
