// dot_general: dimension numbers, widening of integers, algorithms.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[A:[^:]*]]: tensor<2x3x4xf32>, %[[B:[^:]*]]: tensor<2x4x5xf32>)
// CHECK-NEXT: sgd.dot_general %[[A]], %[[B]] batching = [0] x [0] contracting = [2] x [1] : tensor<2x3x4xf32>, tensor<2x4x5xf32> -> tensor<2x3x5xf32>
func.func @batched(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @bf16_algorithm
// CHECK: arith.truncf {{.*}} to tensor<4x8xbf16>
// CHECK: arith.truncf {{.*}} to tensor<8x5xbf16>
// CHECK: sgd.dot_general {{.*}} : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf32>
func.func @bf16_algorithm(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Three bf16 matmuls emulate one in f32.
// CHECK-LABEL: func.func @emulated_algorithm
// CHECK-NEXT: sgd.dot_general {{.*}} : tensor<4x8xf32>, tensor<8x5xf32>
func.func @emulated_algorithm(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 2, rhs_component_count = 2, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @integers
// CHECK: arith.extsi
// CHECK: arith.extui
// CHECK: sgd.dot_general {{.*}} : tensor<4xi32>, tensor<4xi32> -> tensor<i32>
func.func @integers(%a: tensor<4xi8>, %b: tensor<4xui8>) -> tensor<i32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xi8>, tensor<4xui8>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK-LABEL: func.func @old_dot
// CHECK: sgd.dot_general {{.*}} batching = [] x [] contracting = [1] x [0]
func.func @old_dot(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot %a, %b, precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
