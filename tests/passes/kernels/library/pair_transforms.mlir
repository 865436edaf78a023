// RUN: sgd-opt %s --pass-pipeline='builtin.module(func.func(sgd-pair-transforms))' | FileCheck %s

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[Z:.*]]: tensor<4x8x2xf32>)
// CHECK-NEXT: %[[Y:.*]] = sgd.linear_algebra fft paired_operand paired_result(%[[Z]]) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
// CHECK-NEXT: return %[[Y]]
func.func @pairs(%z: tensor<4x8x2xf32>) -> tensor<4x8x2xf32> {
  %0 = sgd.slice %z starts = [0, 0, 0] limits = [4, 8, 1] strides = [1, 1, 1] : tensor<4x8x2xf32> -> tensor<4x8x1xf32>
  %re = sgd.reshape %0 : tensor<4x8x1xf32> -> tensor<4x8xf32>
  %1 = sgd.slice %z starts = [0, 0, 1] limits = [4, 8, 2] strides = [1, 1, 1] : tensor<4x8x2xf32> -> tensor<4x8x1xf32>
  %im = sgd.reshape %1 : tensor<4x8x1xf32> -> tensor<4x8xf32>
  %2:2 = sgd.linear_algebra fft(%re, %im) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %3 = sgd.reshape %2#0 : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %4 = sgd.reshape %2#1 : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %5 = sgd.concatenate %3, %4 dimension = 2 : (tensor<4x8x1xf32>, tensor<4x8x1xf32>) -> tensor<4x8x2xf32>
  return %5 : tensor<4x8x2xf32>
}

// Parts in each other's places are no pairs, and neither is a result of which a part is read by itself.
// CHECK-LABEL: func.func @apart(
// CHECK: sgd.linear_algebra fft(
func.func @apart(%z: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8xf32>) {
  %0 = sgd.slice %z starts = [0, 1] limits = [8, 2] strides = [1, 1] : tensor<8x2xf32> -> tensor<8x1xf32>
  %re = sgd.reshape %0 : tensor<8x1xf32> -> tensor<8xf32>
  %1 = sgd.slice %z starts = [0, 0] limits = [8, 1] strides = [1, 1] : tensor<8x2xf32> -> tensor<8x1xf32>
  %im = sgd.reshape %1 : tensor<8x1xf32> -> tensor<8xf32>
  %2:2 = sgd.linear_algebra fft(%re, %im) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = sgd.reshape %2#0 : tensor<8xf32> -> tensor<8x1xf32>
  %4 = sgd.reshape %2#1 : tensor<8xf32> -> tensor<8x1xf32>
  %5 = sgd.concatenate %3, %4 dimension = 1 : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x2xf32>
  return %5, %2#0 : tensor<8x2xf32>, tensor<8xf32>
}
