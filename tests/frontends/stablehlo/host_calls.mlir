// Calls of functions of the process, as the JAX plugin writes them: branches with one stay branches, tokens go.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: sgd.host_call "jax.debug_print" 7(%arg0) : (tensor<4xf32>) -> ()
// CHECK: %[[Y:.*]] = sgd.host_call "jax.pure_callback" -1 each_rank(%arg0) : (tensor<4xf32>) -> tensor<2xi32>
// CHECK: return %[[Y]]
func.func @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<2xi32>) {
  %0 = stablehlo.custom_call @sgd.host_call(%t, %x) {has_side_effect = true, mhlo.backend_config = {id = 7 : i64, name = "jax.debug_print", each_rank = false}} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  %1 = stablehlo.custom_call @sgd.host_call(%x) {has_side_effect = true, mhlo.backend_config = {id = 18446744073709551615 : ui64, name = "jax.pure_callback", each_rank = true}} : (tensor<4xf32>) -> tensor<2xi32>
  return %0, %1 : !stablehlo.token, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @branch(
// CHECK: sgd.case
// CHECK: sgd.host_call "f" 1
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) {
  "stablehlo.if"(%p) ({
    stablehlo.custom_call @sgd.host_call(%x) {has_side_effect = true, mhlo.backend_config = {id = 1 : i64, name = "f"}} : (tensor<4xf32>) -> ()
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @nameless(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' @sgd.host_call has no function; expected an integer 'id' of at most 64 bits and a string 'name' in mhlo.backend_config; write them}}
  stablehlo.custom_call @sgd.host_call(%x) {has_side_effect = true, mhlo.backend_config = {id = 1 : i64}} : (tensor<4xf32>) -> ()
  return
}
