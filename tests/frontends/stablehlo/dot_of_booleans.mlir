// A matmul of booleans says whether any product is true: it counts them in i32.
// RUN: sgd-opt %s -sgd-import-stablehlo | FileCheck %s

// CHECK: %[[LHS:.*]] = arith.extui %arg0 : tensor<2x3xi1> to tensor<2x3xi32>
// CHECK: %[[RHS:.*]] = arith.extui %arg1 : tensor<3x4xi1> to tensor<3x4xi32>
// CHECK: %[[COUNT:.*]] = sgd.dot_general %[[LHS]], %[[RHS]]
// CHECK-SAME: tensor<2x4xi32>
// CHECK: arith.cmpi ne, %[[COUNT]]
func.func @main(%lhs: tensor<2x3xi1>, %rhs: tensor<3x4xi1>) -> tensor<2x4xi1> {
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<2x3xi1>, tensor<3x4xi1>) -> tensor<2x4xi1>
  return %0 : tensor<2x4xi1>
}
