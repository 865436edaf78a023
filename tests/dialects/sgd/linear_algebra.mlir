// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @cholesky
func.func @cholesky(%a: tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>) {
  // CHECK: sgd.linear_algebra cholesky lower(%{{.*}}) : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
  %0:2 = sgd.linear_algebra cholesky lower (%a) : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8x4x4xf32>, tensor<8xi32>
}

// CHECK-LABEL: @solve
func.func @solve(%a: tensor<4x4xf64>, %b: tensor<3x4xf64>) -> tensor<3x4xf64> {
  // CHECK: sgd.linear_algebra triangular_solve right transpose unit_diagonal
  %0 = sgd.linear_algebra triangular_solve right transpose unit_diagonal (%a, %b) : (tensor<4x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// CHECK-LABEL: @svd
func.func @svd(%a: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>) {
  // CHECK: sgd.linear_algebra svd vectors full
  %0:4 = sgd.linear_algebra svd vectors full (%a) : (tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>
}
