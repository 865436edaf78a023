// Sort and top_k: the comparator becomes a block of scalar ops.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @sort
func.func @sort(%k: tensor<4x8xf32>, %v: tensor<4x8xui16>) -> (tensor<4x8xf32>, tensor<4x8xui16>) {
  // CHECK: sgd.sort(%arg0, %arg1) dimension = 1 {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: i16, %[[D:.*]]: i16):
  // CHECK: arith.bitcast %[[A]] : f32 to i32
  // CHECK: %[[LESS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[TIE:.*]] = arith.cmpi ult, %[[C]], %[[D]] : i16
  // CHECK: %[[FIRST:.*]] = arith.ori %[[LESS]], %[[TIE]] : i1
  // CHECK: sgd.yield %[[FIRST]] : i1
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = -1 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<ui16>, %d: tensor<ui16>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %c, %d, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xui16>) -> (tensor<4x8xf32>, tensor<4x8xui16>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xui16>
}

// -----

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<4x8xf32>, %u: tensor<8xui8>) -> (tensor<4x3xf32>, tensor<4x3xi32>, tensor<2xui8>, tensor<2xi32>) {
  // CHECK: sgd.top_k %arg0 k = 3 : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %0:2 = chlo.top_k(%x, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  // CHECK: sgd.top_k %arg1 k = 2 {unsigned_elements}
  %1:2 = chlo.top_k(%u, k = 2) : tensor<8xui8> -> (tensor<2xui8>, tensor<2xi32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<4x3xf32>, tensor<4x3xi32>, tensor<2xui8>, tensor<2xi32>
}

// -----

// As exports without chlo call it; the smallest are the largest in inverted order.
// CHECK-LABEL: func.func @top_k_calls
func.func @top_k_calls(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xi32>) {
  // CHECK: sgd.top_k %arg0 k = 3
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = true}} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>)
  // CHECK: %[[N:.*]] = arith.negf %arg0
  // CHECK: %[[V:.*]], %{{.*}} = sgd.top_k %[[N]] k = 3
  // CHECK: arith.negf %[[V]]
  %1:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = false}} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xi32>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.sort' dimension 1 is not one of its operands', which have rank 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error@+1 {{reads a value from outside of the body; pass it as an operand}}
    %1 = stablehlo.compare LT, %a, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @comparator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.sort' comparator must take two scalars for each operand and return one}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @top_k_of_too_few(%x: tensor<4x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  // expected-error@+1 {{'chlo.top_k' cannot choose 3 elements of the last dimension of 'tensor<4x2xf32>'}}
  %0:2 = chlo.top_k(%x, k = 3) : tensor<4x2xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>
}
