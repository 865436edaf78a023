// Loops over groups and over the tiles of rows that each has.
// RUN: sgd-opt %s -sgd-expand-grouped-dots -split-input-file | FileCheck %s

// 64 rows in 4 groups: tiles of 16 rows. Rows of other groups keep what their own trip has written.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: sgd.grouped_dot
// CHECK: sgd.while
// CHECK-SAME: trips 4
// CHECK: %[[MATRIX:.*]] = sgd.reshape %{{.*}} : tensor<1x16x32xf32> -> tensor<16x32xf32>
// CHECK: sgd.while(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[MATRIX]],
// CHECK: %[[PRODUCT:.*]] = sgd.dot_general %{{.*}} : tensor<16x16xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
// CHECK: arith.select %{{.*}}, %[[PRODUCT]], %{{.*}}
// CHECK: sgd.dynamic_update_slice
// CHECK: {sgd.by_rank}
func.func @rows(%x: tensor<64x16xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> tensor<64x32xf32> {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// -----

// Sums of bf16 are f32 until the end of a group.
// CHECK-LABEL: func.func @contracted(
// CHECK: sgd.dot_general %{{.*}} contracting = [0] x [0] : tensor<16x16xbf16>, tensor<16x32xbf16> -> tensor<16x32xf32>
// CHECK-NEXT: arith.addf %{{.*}} : tensor<16x32xf32>
// CHECK: arith.truncf
func.func @contracted(%x: tensor<64x16xbf16>, %y: tensor<64x32xbf16>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> tensor<4x16x32xbf16> {
  %0 = sgd.grouped_dot %x, %y rows = %rows groups = %groups contracted : (tensor<64x16xbf16>, tensor<64x32xbf16>, tensor<64xi32>, tensor<4xi32>) -> tensor<4x16x32xbf16>
  return %0 : tensor<4x16x32xbf16>
}

// -----

// Leading dimensions: one matmul after the other.
// CHECK-LABEL: func.func @batch(
// CHECK-COUNT-2: trips 4
// CHECK: sgd.concatenate
func.func @batch(%x: tensor<2x64x16xf32>, %w: tensor<2x4x32x16xf32>, %rows: tensor<2x64xi32>, %groups: tensor<2x4xi32>) -> tensor<2x64x32xf32> {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups transposed : (tensor<2x64x16xf32>, tensor<2x4x32x16xf32>, tensor<2x64xi32>, tensor<2x4xi32>) -> tensor<2x64x32xf32>
  return %0 : tensor<2x64x32xf32>
}
