// RUN: sgd-opt %s --sgd-lower-convolutions --split-input-file --verify-diagnostics | FileCheck %s

// A convolution of flax: all in the order of memory.
// CHECK-LABEL: @forward
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x8x3xf32>, %[[W:.*]]: tensor<3x3x3x16xf32>)
func.func @forward(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<2x4x4x16xf32> {
  %0 = sgd.reshape %x : tensor<2x8x8x3xf32> -> tensor<2x8x8x1x3xf32>
  %1 = sgd.reshape %w : tensor<3x3x3x16xf32> -> tensor<3x3x3x1x16xf32>
  %2 = sgd.transpose %1 permutation = [0, 1, 3, 2, 4] : tensor<3x3x3x1x16xf32> -> tensor<3x3x1x3x16xf32>
  // CHECK: %[[Y:.*]] = fusion.convolution %[[X]] [0, 4, 5, 2], %[[W]] [4, 5, 2, 3] into [0, 4, 5, 1, 3] strides = [2, 2] low = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
  %3 = sgd.convolution %0, %2 strides = [2, 2] low = [1, 1] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x8x1x3xf32>, tensor<3x3x1x3x16xf32> -> tensor<2x4x4x1x16xf32>
  // CHECK-NEXT: sgd.reshape %[[Y]]
  %4 = sgd.reshape %3 : tensor<2x4x4x1x16xf32> -> tensor<2x4x4x16xf32>
  return %4 : tensor<2x4x4x16xf32>
}

// -----

// The gradient by the input: the kernel is read backwards where it lies.
// CHECK-LABEL: @by_input
// CHECK-SAME: (%[[DY:.*]]: tensor<2x8x8x16xf32>, %[[W:.*]]: tensor<3x3x4x16xf32>)
func.func @by_input(%dy: tensor<2x8x8x16xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<2x8x8x1x4xf32> {
  %0 = sgd.reverse %w dimensions = [0, 1] : tensor<3x3x4x16xf32>
  %1 = sgd.reshape %dy : tensor<2x8x8x16xf32> -> tensor<2x8x8x1x16xf32>
  %2 = sgd.reshape %0 : tensor<3x3x4x16xf32> -> tensor<3x3x1x4x16xf32>
  %3 = sgd.transpose %2 permutation = [0, 1, 2, 4, 3] : tensor<3x3x1x4x16xf32> -> tensor<3x3x1x16x4xf32>
  // CHECK-NEXT: fusion.convolution %[[DY]] [0, 4, 5, 2], %[[W]] [4, 5, 3, 2] into [0, 4, 5, 1, 3] strides = [1, 1] low = [-1, -1] lhs_dilations = [1, 1] rhs_dilations = [-1, -1]
  %4 = sgd.convolution %1, %3 strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x8x1x16xf32>, tensor<3x3x1x16x4xf32> -> tensor<2x8x8x1x4xf32>
  return %4 : tensor<2x8x8x1x4xf32>
}

// -----

// A reversal stands above the reshape that makes groups.
// CHECK-LABEL: @reversed_groups
func.func @reversed_groups(%x: tensor<1x8x2x4xf32>, %w: tensor<3x4x10xf32>) -> tensor<1x6x2x5xf32> {
  // CHECK: %[[W:.*]] = sgd.reshape %{{.*}} : tensor<3x4x10xf32> -> tensor<3x4x2x5xf32>
  // CHECK: fusion.convolution %{{.*}} [0, 4, 1, 2], %[[W]] [4, 2, 1, 3] into [0, 4, 1, 3] strides = [1] low = [-4] lhs_dilations = [1] rhs_dilations = [-2]
  %0 = sgd.reverse %w dimensions = [0] : tensor<3x4x10xf32>
  %1 = sgd.reshape %0 : tensor<3x4x10xf32> -> tensor<3x4x2x5xf32>
  %2 = sgd.transpose %1 permutation = [0, 2, 1, 3] : tensor<3x4x2x5xf32> -> tensor<3x2x4x5xf32>
  %3 = sgd.convolution %x, %2 strides = [1] low = [0] high = [2] lhs_dilations = [1] rhs_dilations = [2] : tensor<1x8x2x4xf32>, tensor<3x2x4x5xf32> -> tensor<1x6x2x5xf32>
  return %3 : tensor<1x6x2x5xf32>
}

// -----

// The result is written in the order of its only user.
// CHECK-LABEL: @by_kernel
func.func @by_kernel(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x8x8x16xf32>) -> tensor<3x3x4x1x16xf32> {
  %0 = sgd.reshape %x : tensor<2x8x8x4xf32> -> tensor<1x2x8x8x4xf32>
  %1 = sgd.transpose %0 permutation = [4, 2, 3, 0, 1] : tensor<1x2x8x8x4xf32> -> tensor<4x8x8x1x2xf32>
  %2 = sgd.reshape %dy : tensor<2x8x8x16xf32> -> tensor<2x8x8x1x16xf32>
  %3 = sgd.transpose %2 permutation = [1, 2, 3, 0, 4] : tensor<2x8x8x1x16xf32> -> tensor<8x8x1x2x16xf32>
  // CHECK: %[[G:.*]] = fusion.convolution %arg0 [2, 4, 5, 0], %arg1 [2, 4, 5, 3] into [4, 5, 0, 1, 3]
  %4 = sgd.convolution %1, %3 strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<4x8x8x1x2xf32>, tensor<8x8x1x2x16xf32> -> tensor<4x3x3x1x16xf32>
  %5 = sgd.transpose %4 permutation = [1, 2, 0, 3, 4] : tensor<4x3x3x1x16xf32> -> tensor<3x3x4x1x16xf32>
  // CHECK-NEXT: return %[[G]]
  return %5 : tensor<3x3x4x1x16xf32>
}

// -----

// Kernels of one element are a matmul.
// CHECK-LABEL: @pointwise
func.func @pointwise(%x: tensor<2x8x8x1x4xf32>, %w: tensor<1x1x1x4x16xf32>) -> tensor<2x8x8x1x16xf32> {
  // CHECK-DAG: %[[X:.*]] = sgd.reshape %arg0 {{.*}} -> tensor<2x8x8x4xf32>
  // CHECK-DAG: %[[W:.*]] = sgd.reshape %arg1 {{.*}} -> tensor<4x16xf32>
  // CHECK: sgd.dot_general %[[X]], %[[W]] batching = [] x [] contracting = [3] x [0]
  %0 = sgd.convolution %x, %w strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x8x1x4xf32>, tensor<1x1x1x4x16xf32> -> tensor<2x8x8x1x16xf32>
  return %0 : tensor<2x8x8x1x16xf32>
}

// -----

// So is its gradient by the kernel, whose windows are the whole input; its transpose by ones moves nothing.
// CHECK-LABEL: @pointwise_by_kernel
func.func @pointwise_by_kernel(%x: tensor<4x8x8x1x2xf32>, %dy: tensor<8x8x1x2x16xf32>) -> tensor<1x1x4x1x16xf32> {
  // CHECK: %[[DOT:.*]] = sgd.dot_general {{.*}} batching = [] x [] contracting = [1, 2, 3] x [0, 1, 2] : tensor<4x8x8x2xf32>, tensor<8x8x2x16xf32> -> tensor<4x16xf32>
  // CHECK-NEXT: sgd.reshape %[[DOT]] : tensor<4x16xf32> -> tensor<1x1x4x1x16xf32>
  %0 = sgd.convolution %x, %dy strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<4x8x8x1x2xf32>, tensor<8x8x1x2x16xf32> -> tensor<4x1x1x1x16xf32>
  %1 = sgd.transpose %0 permutation = [1, 2, 0, 3, 4] : tensor<4x1x1x1x16xf32> -> tensor<1x1x4x1x16xf32>
  return %1 : tensor<1x1x4x1x16xf32>
}

// -----

// Groups of a matmul are a batching dimension.
// CHECK-LABEL: @pointwise_groups
func.func @pointwise_groups(%x: tensor<2x8x3x4xf32>, %w: tensor<1x3x4x16xf32>) -> tensor<2x8x3x16xf32> {
  // CHECK: %[[DOT:.*]] = sgd.dot_general {{.*}} batching = [2] x [0] contracting = [3] x [1] : tensor<2x8x3x4xf32>, tensor<3x4x16xf32> -> tensor<3x2x8x16xf32>
  // CHECK: sgd.transpose %[[DOT]] permutation = [1, 2, 0, 3]
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x3x4xf32>, tensor<1x3x4x16xf32> -> tensor<2x8x3x16xf32>
  return %0 : tensor<2x8x3x16xf32>
}

// -----

// Sums of narrow types are taken in wider ones, and rounded once.
// CHECK-LABEL: @half
func.func @half(%x: tensor<2x8x1x4xbf16>, %w: tensor<3x1x4x16xbf16>) -> tensor<2x6x1x16xbf16> {
  // CHECK: %[[Y:.*]] = fusion.convolution {{.*}} : tensor<2x8x1x4xbf16>, tensor<3x1x4x16xbf16> -> tensor<2x6x1x16xf32>
  // CHECK: arith.truncf %[[Y]]
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x4xbf16>, tensor<3x1x4x16xbf16> -> tensor<2x6x1x16xbf16>
  return %0 : tensor<2x6x1x16xbf16>
}

// -----

// CHECK-LABEL: @no_features
// CHECK-NEXT: arith.constant dense<0.000000e+00> : tensor<2x6x1x16xf32>
// CHECK-NEXT: return
func.func @no_features(%x: tensor<2x8x1x0xf32>, %w: tensor<3x1x0x16xf32>) -> tensor<2x6x1x16xf32> {
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x0xf32>, tensor<3x1x0x16xf32> -> tensor<2x6x1x16xf32>
  return %0 : tensor<2x6x1x16xf32>
}

// -----

func.func @booleans(%x: tensor<2x8x1x4xi1>, %w: tensor<3x1x4x16xi1>) -> tensor<2x6x1x16xi1> {
  // expected-error @+1 {{of booleans is not supported; convert the operands to i32 first}}
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x4xi1>, tensor<3x1x4x16xi1> -> tensor<2x6x1x16xi1>
  return %0 : tensor<2x6x1x16xi1>
}

// -----

// Few zeros are left out by convolutions of their own, very many are written.
// CHECK-LABEL: @dilated_far
func.func @dilated_far(%x: tensor<1x3x3x1x4xf32>, %w: tensor<5x5x1x4x16xf32>) -> tensor<1x17x17x1x16xf32> {
  // CHECK: %[[ZEROS:.*]] = sgd.pad {{.*}} interior = [0, 9, 9, 0, 0] : tensor<1x3x3x1x4xf32>, tensor<f32> -> tensor<1x21x21x1x4xf32>
  // CHECK: fusion.convolution %[[ZEROS]] {{.*}} lhs_dilations = [1, 1]
  %0 = sgd.convolution %x, %w strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [10, 10] rhs_dilations = [1, 1] : tensor<1x3x3x1x4xf32>, tensor<5x5x1x4x16xf32> -> tensor<1x17x17x1x16xf32>
  return %0 : tensor<1x17x17x1x16xf32>
}

// -----

// Of a depthwise convolution every element of the kernel is a multiplication.
// CHECK-LABEL: @depthwise
func.func @depthwise(%x: tensor<2x8x16x1xf32>, %w: tensor<2x16x1x3xf32>) -> tensor<2x7x16x3xf32> {
  // CHECK: sgd.slice %arg0 starts = [0, 0, 0, 0] limits = [2, 7, 16, 1]
  // CHECK: arith.mulf
  // CHECK: sgd.slice %arg0 starts = [0, 1, 0, 0] limits = [2, 8, 16, 1]
  // CHECK: %[[TERM:.*]] = arith.mulf
  // CHECK: arith.addf %{{.*}}, %[[TERM]] : tensor<2x7x16x3xf32>
  // CHECK-NOT: sgd.convol
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x16x1xf32>, tensor<2x16x1x3xf32> -> tensor<2x7x16x3xf32>
  return %0 : tensor<2x7x16x3xf32>
}

// -----

// With many elements it stays a convolution where groups lie next to each other.
// CHECK-LABEL: @depthwise_large
// CHECK: fusion.convolution
// CHECK-NOT: fusion.convolution
// CHECK: arith.mulf
func.func @depthwise_large(%x: tensor<2x30x16x1xf32>, %w: tensor<25x16x1x1xf32>) -> (tensor<2x6x16x1xf32>, tensor<2x16x1x6xf32>) {
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x30x16x1xf32>, tensor<25x16x1x1xf32> -> tensor<2x6x16x1xf32>
  %1 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x30x16x1xf32>, tensor<25x16x1x1xf32> -> tensor<2x6x16x1xf32>
  %2 = sgd.transpose %1 permutation = [0, 2, 3, 1] : tensor<2x6x16x1xf32> -> tensor<2x16x1x6xf32>
  return %0, %2 : tensor<2x6x16x1xf32>, tensor<2x16x1x6xf32>
}

// Its gradient by the kernel is a reduction for each element, in the order of memory.
// CHECK-LABEL: @depthwise_by_kernel
// CHECK-SAME: (%[[X:.*]]: tensor<4x8x16x1xf32>, %[[DY:.*]]: tensor<4x7x16x1xf32>)
func.func @depthwise_by_kernel(%x: tensor<4x8x16x1xf32>, %dy: tensor<4x7x16x1xf32>) -> tensor<1x2x16x1xf32> {
  // CHECK: sgd.reduce add %{{.*}} dimensions = [0, 1, 3] : tensor<4x7x16x1xf32> -> tensor<16xf32>
  // CHECK: sgd.reduce add %{{.*}} dimensions = [0, 1, 3] : tensor<4x7x16x1xf32> -> tensor<16xf32>
  // CHECK: sgd.concatenate
  // CHECK-NOT: sgd.convol
  %0 = sgd.transpose %x permutation = [3, 1, 2, 0] : tensor<4x8x16x1xf32> -> tensor<1x8x16x4xf32>
  %1 = sgd.transpose %dy permutation = [1, 2, 0, 3] : tensor<4x7x16x1xf32> -> tensor<7x16x4x1xf32>
  %2 = sgd.convolution %0, %1 strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<1x8x16x4xf32>, tensor<7x16x4x1xf32> -> tensor<1x2x16x1xf32>
  return %2 : tensor<1x2x16x1xf32>
}
