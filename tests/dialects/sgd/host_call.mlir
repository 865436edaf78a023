// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @once
func.func @once(%a: tensor<8x4xf32>, %b: tensor<i32>) -> tensor<2xf32> {
  // CHECK: sgd.host_call "print" 7(%arg0, %arg1) : (tensor<8x4xf32>, tensor<i32>) -> ()
  sgd.host_call "print" 7(%a, %b) : (tensor<8x4xf32>, tensor<i32>) -> ()
  // CHECK: sgd.host_call "compute" -1() : () -> tensor<2xf32>
  %0 = sgd.host_call "compute" -1() : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @each_rank
func.func @each_rank(%a: tensor<2x4x5xf32>, %when: tensor<2x4xi1>) -> tensor<2x4xi32> {
  // CHECK: sgd.host_call "f" 8 each_rank coordinates 2 when %arg1 : tensor<2x4xi1>(%arg0) : (tensor<2x4x5xf32>) -> tensor<2x4xi32>
  %0 = sgd.host_call "f" 8 each_rank coordinates 2 when %when : tensor<2x4xi1>(%a) : (tensor<2x4x5xf32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
