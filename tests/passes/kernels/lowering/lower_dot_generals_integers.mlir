// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-lower-dot-generals --sgd-fuse-clusters | FileCheck %s
// Matmuls of integers as sums, for targets whose library has none; the repeated operands are in no memory.

// CHECK-LABEL: func.func @batched
// CHECK-NOT: fusion.matmul
// CHECK: fusion.cluster(%arg0, %arg1)
// CHECK: %[[L:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [0, 1, 3] : tensor<2x3x4xi32> -> tensor<2x3x5x4xi32>
// CHECK: %[[R:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [3, 0, 2] : tensor<4x2x5xi32> -> tensor<2x3x5x4xi32>
// CHECK: %[[P:.*]] = arith.muli %[[L]], %[[R]]
// CHECK: %[[S:.*]] = sgd.reduce add %[[P]] dimensions = [3]
// CHECK: fusion.yield %[[S]]
func.func @batched(%a: tensor<2x3x4xi32>, %b: tensor<4x2x5xi32>) -> tensor<2x3x5xi32> {
  %0 = sgd.dot_general %a, %b batching = [0] x [1] contracting = [2] x [0] : tensor<2x3x4xi32>, tensor<4x2x5xi32> -> tensor<2x3x5xi32>
  return %0 : tensor<2x3x5xi32>
}

// Nothing is summed.
// CHECK-LABEL: func.func @outer
// CHECK-NOT: sgd.reduce
// CHECK: arith.muli
func.func @outer(%a: tensor<3xi8>, %b: tensor<4xi8>) -> tensor<3x4xi32> {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [] x [] : tensor<3xi8>, tensor<4xi8> -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// CHECK-LABEL: func.func @floats
// CHECK: fusion.matmul
func.func @floats(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<3x4xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
