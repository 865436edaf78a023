// RUN: sgd-opt %s --sgd-lower-dot-generals | FileCheck %s

sgd.mesh @mesh = <["data"=2]>

// CHECK-LABEL: @plain
func.func @plain(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: fusion.matmul %{{.*}} [0, 1], %{{.*}} [1, 2] into [0, 2]
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: @transposed_operand
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<16x8xf32>
func.func @transposed_operand(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
  // CHECK-NOT: sgd.transpose
  // CHECK: fusion.matmul %[[X]] [0, 1], %[[W]] [2, 1] into [0, 2]
  %t = sgd.transpose %w permutation = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %0 = sgd.dot_general %x, %t batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// The transposed result is written by the matmul; a second transposition undoes the first.
// CHECK-LABEL: @transposed_result
func.func @transposed_result(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<16x4xf32>, tensor<4x16xf32>) {
  // CHECK-NOT: sgd.transpose
  // CHECK: fusion.matmul %{{.*}} into [2, 0] {{.*}} -> tensor<16x4xf32>
  // CHECK: fusion.matmul %{{.*}} into [0, 2] {{.*}} -> tensor<4x16xf32>
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %1 = sgd.transpose %0 permutation = [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  %2 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %3 = sgd.transpose %2 permutation = [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  %4 = sgd.transpose %3 permutation = [1, 0] : tensor<16x4xf32> -> tensor<4x16xf32>
  return %1, %4 : tensor<16x4xf32>, tensor<4x16xf32>
}

// The other user keeps the result's order, so the transposition stays.
// CHECK-LABEL: @result_used_in_both_orders
func.func @result_used_in_both_orders(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<16x4xf32>, tensor<4x16xf32>) {
  // CHECK: fusion.matmul %{{.*}} into [0, 2]
  // CHECK: sgd.transpose
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %1 = sgd.transpose %0 permutation = [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  return %1, %0 : tensor<16x4xf32>, tensor<4x16xf32>
}

// A reshape that drops dimensions of size 1 does not hide the transposition above it.
// CHECK-LABEL: @reshape_between
func.func @reshape_between(%x: tensor<4x8xf32>, %w: tensor<1x16x8xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[W:.*]] = sgd.reshape
  // CHECK-NOT: sgd.transpose
  // CHECK: fusion.matmul %{{.*}} [0, 1], %[[W]] [2, 1] into [0, 2]
  %t = sgd.transpose %w permutation = [2, 0, 1] : tensor<1x16x8xf32> -> tensor<8x1x16xf32>
  %r = sgd.reshape %t : tensor<8x1x16xf32> -> tensor<8x16xf32>
  %0 = sgd.dot_general %x, %r batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Gradients are transposed after they are summed over ranks: the matmul writes that order itself.
// CHECK-LABEL: @through_collectives
func.func @through_collectives(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<16x4xf32>, tensor<8x4xf32>) {
  // CHECK-NOT: sgd.transpose
  // CHECK: spmd.all_reduce {{.*}} : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK: spmd.reduce_scatter {{.*}} dims = [0] {{.*}} : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %1 = spmd.all_reduce add (%0) <@mesh, {"data"}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = sgd.transpose %1 permutation = [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  %3 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %4 = spmd.reduce_scatter add (%3) dims = [1] <@mesh, {"data"}> : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %5 = sgd.transpose %4 permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %2, %5 : tensor<16x4xf32>, tensor<8x4xf32>
}

// The innermost dimension of rhs is a batch dimension: no stride makes that a matrix.
// CHECK-LABEL: @explicit_transposes
func.func @explicit_transposes(%x: tensor<4x8x6xf32>, %w: tensor<8x16x6xf32>) -> tensor<6x4x16xf32> {
  // CHECK: sgd.transpose %{{.*}} permutation = [2, 0, 1]
  // CHECK: sgd.transpose %{{.*}} permutation = [2, 0, 1]
  // CHECK: fusion.matmul %{{.*}} [2, 0, 1], %{{.*}} [2, 1, 3] into [2, 0, 3]
  %0 = sgd.dot_general %x, %w batching = [2] x [2] contracting = [1] x [0] : tensor<4x8x6xf32>, tensor<8x16x6xf32> -> tensor<6x4x16xf32>
  return %0 : tensor<6x4x16xf32>
}

// CHECK-LABEL: @empty_sum
func.func @empty_sum(%x: tensor<4x0xf32>, %w: tensor<0x16xf32>) -> tensor<4x16xf32> {
  // CHECK: arith.constant dense<0.000000e+00> : tensor<4x16xf32>
  // CHECK-NOT: fusion.matmul
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x0xf32>, tensor<0x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: @mixed_types
func.func @mixed_types(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>) -> tensor<4x16xf32> {
  // CHECK: arith.extf
  // CHECK: arith.extf
  // CHECK: fusion.matmul {{.*}} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Operands of two types meet in the one that holds both; a result narrower than its operands is rounded once, after the sum.
// CHECK-LABEL: @types_that_differ
func.func @types_that_differ(%x: tensor<4x8xbf16>, %y: tensor<8x16xf16>, %z: tensor<8x16xf32>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  // CHECK: %[[X0:.*]] = arith.extf %{{.*}} : tensor<4x8xbf16> to tensor<4x8xf32>
  // CHECK: %[[Y:.*]] = arith.extf %{{.*}} : tensor<8x16xf16> to tensor<8x16xf32>
  // CHECK: %[[C:.*]] = fusion.matmul %[[X0]] [0, 1], %[[Y]] [1, 2] into [0, 2] {{.*}} -> tensor<4x16xf32>
  // CHECK: arith.truncf %[[C]] : tensor<4x16xf32> to tensor<4x16xbf16>
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [1] x [0] : tensor<4x8xbf16>, tensor<8x16xf16> -> tensor<4x16xbf16>
  // CHECK: fusion.matmul {{.*}} -> tensor<4x16xf32>
  // CHECK: arith.truncf
  %1 = sgd.dot_general %x, %z batching = [] x [] contracting = [1] x [0] : tensor<4x8xbf16>, tensor<8x16xf32> -> tensor<4x16xbf16>
  return %0, %1 : tensor<4x16xbf16>, tensor<4x16xbf16>
}
