// The generator of stablehlo.rng becomes an argument and a result, carried through calls, loops and branches.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<f32>
// CHECK-SAME: %arg1: tensor<2xi64> {sgd.alias_output = 1 : i64, sgd.name = "rng_state", sgd.role = #sgd.role<generator>, sgd.unsigned}) -> (tensor<8xf32>, tensor<2xi64> {sgd.name = "rng_state", sgd.unsigned})
// CHECK: sgd.while(%{{.*}}, %{{.*}}, %arg1
func.func @main(%x: tensor<f32>) -> tensor<8xf32> {
  %n = stablehlo.constant dense<100000> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0:2 = stablehlo.while(%i = %n, %y = %zeros) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = func.call @draw(%x) : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.add %1, %y : tensor<8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
func.func private @draw(%x: tensor<f32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = stablehlo.rng %x, %one, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @branches(
// CHECK-SAME: -> (tensor<4xi32> {sgd.unsigned}, tensor<2xi64> {sgd.name = "rng_state", sgd.unsigned})
func.func @branches(%p: tensor<i1>, %a: tensor<ui32>, %b: tensor<ui32>) -> tensor<4xui32> {
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<ui32>, tensor<ui32>, tensor<1xi64>) -> tensor<4xui32>
    stablehlo.return %1 : tensor<4xui32>
  }, {
    %1 = stablehlo.constant dense<0> : tensor<4xui32>
    stablehlo.return %1 : tensor<4xui32>
  }) : (tensor<i1>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

func.func @normal_integers(%a: tensor<i32>) -> tensor<4xi32> {
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.rng' gives 'tensor<4xi32>' from 'tensor<i32>' and 'tensor<i32>'; supported are}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// The runtime would start it from a seed.
// expected-error@+1 {{argument 0 is named 'rng_state' and has the type of the state of stablehlo.rng; expected that name for the generator's state alone}}
func.func @own_state(%a: tensor<2xui64> loc("rng_state")) -> tensor<2xui64> {
  return %a : tensor<2xui64>
}

// -----

// A key of JAX's own may be named so: it has another type.
// CHECK-LABEL: func.func @own_key(
func.func @own_key(%a: tensor<2xui32> loc("rng_state")) -> tensor<2xui32> {
  return %a : tensor<2xui32>
}

// -----

// Not beside the generator's.
// expected-error@+1 {{is named 'rng_state' in a program that draws by stablehlo.rng}}
func.func @both(%x: tensor<f32>, %a: tensor<2xui32> {jax.arg_info = "rng_state"}) -> (tensor<8xf32>, tensor<2xui32>) {
  %shape = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = stablehlo.rng %x, %x, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0, %a : tensor<8xf32>, tensor<2xui32>
}
