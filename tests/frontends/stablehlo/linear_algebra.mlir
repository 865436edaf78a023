// RUN: sgd-opt %s --sgd-import-stablehlo | FileCheck %s

// Failures become NaN, as in XLA.
// CHECK-LABEL: @cholesky
// CHECK: %[[FACTOR:.*]]:2 = sgd.linear_algebra cholesky(%arg0)
// CHECK: arith.cmpi eq, %[[FACTOR]]#1
// CHECK: arith.select {{.*}}, %[[FACTOR]]#0
func.func @cholesky(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = stablehlo.cholesky %a : tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// CHECK-LABEL: @solve
// CHECK: sgd.linear_algebra triangular_solve lower right transpose unit_diagonal(%arg0, %arg1)
func.func @solve(%a: tensor<4x4xf64>, %b: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}>
    : (tensor<4x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// As programs for TPUs have it.
// CHECK-LABEL: @qr
// CHECK: sgd.linear_algebra qr(%arg0)
// CHECK: sgd.linear_algebra householder_product(
func.func @qr(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
