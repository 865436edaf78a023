// Approximate top_k is exact: the k largest or smallest along any dimension.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = sgd.transpose %arg0
// CHECK: %[[N:.*]] = arith.negf %[[T]]
// CHECK: sgd.top_k %[[N]] k = 3
// CHECK-NOT: @less
func.func @less(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func public @main(%x: tensor<8x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8x4xi32>
  %c = stablehlo.constant dense<-1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %c) {called_computations = [@less], mhlo.backend_config = {aggregate_to_topk = false, reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return %0#0, %0#1 : tensor<3x4xf32>, tensor<3x4xi32>
}

// -----

func.func private @any(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func public @main(%x: tensor<4xf32>, %i: tensor<4xi32>, %z: tensor<f32>, %c: tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) {
  // expected-error@+1 {{@ApproxTopK needs values with their positions, an initial value of each, a comparator that is one comparison GT or LT}}
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %c) {called_computations = [@any], mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}
