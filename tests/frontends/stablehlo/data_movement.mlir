// Constants, data movement, gather and dynamic slices.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2xi8>, tensor<1xi64>, tensor<2x2xbf16>, tensor<0x3xf32>, tensor<2xi1>) {
  // CHECK: arith.constant dense<[-1, 1]> : tensor<2xi8>
  %0 = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %1 = stablehlo.convert %0 : (tensor<2xui8>) -> tensor<2xi8>
  // CHECK: arith.constant dense<-1> : tensor<1xi64>
  %2 = stablehlo.constant dense<-1> : tensor<1xi64>
  // CHECK: arith.constant dense<{{\[}}[0x7FC0, 1.000000e+00], [2.000000e+00, 3.000000e+00]]> : tensor<2x2xbf16>
  %3 = stablehlo.constant dense<[[0x7FC0, 1.0], [2.0, 3.0]]> : tensor<2x2xbf16>
  // CHECK: arith.constant dense<> : tensor<0x3xf32>
  %4 = stablehlo.constant dense<> : tensor<0x3xf32>
  // CHECK: arith.constant dense<[true, false]> : tensor<2xi1>
  %5 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  return %1, %2, %3, %4, %5 : tensor<2xi8>, tensor<1xi64>, tensor<2x2xbf16>, tensor<0x3xf32>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func.func @rearrange
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>, %[[V:[^:]*]]: tensor<f32>)
func.func @rearrange(%x: tensor<4x8xf32>, %v: tensor<f32>) -> (tensor<7x21xf32>, tensor<4x16xf32>, tensor<7xi32>, tensor<2x4x8xf32>) {
  // CHECK: sgd.broadcast_in_dim %[[X]] dims = [1, 2] : tensor<4x8xf32> -> tensor<3x4x8xf32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<3x4x8xf32>
  // CHECK: sgd.transpose {{.*}} permutation = [2, 0, 1]
  %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<3x4x8xf32>) -> tensor<8x3x4xf32>
  // CHECK: sgd.reshape {{.*}} : tensor<8x3x4xf32> -> tensor<96xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x3x4xf32>) -> tensor<96xf32>
  // CHECK: sgd.slice {{.*}} starts = [0] limits = [96] strides = [3]
  %3 = stablehlo.slice %2 [0:96:3] : (tensor<96xf32>) -> tensor<32xf32>
  // CHECK: sgd.reverse {{.*}} dimensions = [0]
  %4 = stablehlo.reverse %3, dims = [0] : tensor<32xf32>
  // CHECK: sgd.pad %[[X]], %[[V]] low = [1, -1] high = [2, 0] interior = [0, 2]
  %5 = stablehlo.pad %x, %v, low = [1, -1], high = [2, 0], interior = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x21xf32>
  // CHECK: sgd.concatenate %[[X]], %[[X]] dimension = 1
  %6 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: sgd.iota dimension = 0 : tensor<7xi32>
  %7 = stablehlo.iota dim = 0 : tensor<7xui32>
  %8 = stablehlo.convert %7 : (tensor<7xui32>) -> tensor<7xi32>
  // CHECK: sgd.broadcast_in_dim %[[X]] dims = [1, 2] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  %9 = stablehlo.broadcast %x, sizes = [2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  return %5, %6, %8, %9 : tensor<7x21xf32>, tensor<4x16xf32>, tensor<7xi32>, tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic_slices
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>, %[[I:[^:]*]]: tensor<i32>, %[[U:[^:]*]]: tensor<i32> {sgd.unsigned}
func.func @dynamic_slices(%x: tensor<4x8xf32>, %i: tensor<i32>, %u: tensor<ui32>, %w: tensor<ui64>) -> (tensor<4x8xf32>, tensor<1x2xf32>) {
  // CHECK: %[[BLOCK:.*]] = sgd.dynamic_slice %[[X]], %[[I]], %[[I]] sizes = [2, 3]
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // A large unsigned start must not become negative.
  // CHECK: %[[A:.*]] = arith.extui %[[U]] : tensor<i32> to tensor<i64>
  // CHECK: %[[B:.*]] = arith.extui %[[U]]
  // CHECK: sgd.dynamic_update_slice %[[X]], %[[BLOCK]], %[[A]], %[[B]]
  %1 = stablehlo.dynamic_update_slice %x, %0, %u, %u : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<ui32>, tensor<ui32>) -> tensor<4x8xf32>
  // CHECK: arith.constant dense<9223372036854775807>
  // CHECK: arith.minui
  %2 = stablehlo.dynamic_slice %x, %w, %w, sizes = [1, 2] : (tensor<4x8xf32>, tensor<ui64>, tensor<ui64>) -> tensor<1x2xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<1x2xf32>
}

// -----

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x1xui32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // CHECK: sgd.gather
  // CHECK-SAME: collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, indices_batching_dims = array<i64>, offset_dims = array<i64: 1>
  // CHECK-SAME: slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>
  // CHECK-NOT: unsigned_indices
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  // CHECK: sgd.gather
  // CHECK-SAME: indices_batching_dims = array<i64: 0>
  // CHECK-SAME: operand_batching_dims = array<i64: 0>
  // CHECK-SAME: unsigned_indices
  %1 = "stablehlo.gather"(%x, %u) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x1xui32>) -> tensor<4xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @barrier
// CHECK: sgd.optimization_barrier
func.func @barrier(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.optimization_barrier %x, %i : tensor<4xf32>, tensor<4xi32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
