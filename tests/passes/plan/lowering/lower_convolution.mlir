// RUN: sgd-opt %s --sgd-lower-to-plan --split-input-file | FileCheck %s

// CHECK-LABEL: @forward
// CHECK: plan.convolution ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : {{.*}}) sizes [2, 1, 3, 16] windows [8, 8] to [4, 4] of [3, 3] strides [2, 2] dilations [1, 1] low [1, 1] layouts [192, 0, 1, 24, 3], [0, 16, 1, 144, 48], [256, 0, 1, 64, 16]
func.func @forward(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<2x4x4x1x16xf32> {
  %0 = fusion.convolution %x [0, 4, 5, 2], %w [4, 5, 2, 3] into [0, 4, 5, -1, 3] strides = [2, 2] low = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32> -> tensor<2x4x4x1x16xf32>
  return %0 : tensor<2x4x4x1x16xf32>
}

// -----

// The gradient by the input of a convolution with stride 2: even places meet the kernel's elements 0 and 2, read
// backwards, odd ones its element 1.
// CHECK-LABEL: @phases
// CHECK: %[[RESULT:.*]] = plan.alloc : memref<2x8x4xf32, #plan.space<private>>
// CHECK: plan.convolution {{.*}} outs(%[[RESULT]] : {{.*}}) sizes [2, 1, 16, 4] windows [4] to [4] of [2] strides [1] dilations [-1] low [0] layouts [64, 0, 1, 16], [0, 1, 16, 128], [32, 0, 1, 8]
// CHECK: %[[ELEMENT:.*]] = plan.view {{.*}} 256
// CHECK: %[[ODD:.*]] = plan.view %[[RESULT]] {{.*}} 16
// CHECK: plan.convolution ins(%{{.*}}, %[[ELEMENT]] : {{.*}}) outs(%[[ODD]] : {{.*}}) sizes [2, 1, 16, 4] windows [4] to [4] of [1] strides [1] dilations [-1] low [0] layouts [64, 0, 1, 16], [0, 1, 16, 128], [32, 0, 1, 8]
func.func @phases(%dy: tensor<2x4x16xf32>, %w: tensor<3x4x16xf32>) -> tensor<2x8x4xf32> {
  %0 = fusion.convolution %dy [0, 4, 2], %w [4, 3, 2] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [2] rhs_dilations = [-1] : tensor<2x4x16xf32>, tensor<3x4x16xf32> -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// -----

// Of a kernel of one element, every other place is a sum of nothing.
// CHECK-LABEL: @empty_phase
// CHECK: windows [4] to [4] of [1] strides [1]
// CHECK: windows [4] to [4] of [0] strides [1]
func.func @empty_phase(%dy: tensor<2x4x16xf32>, %w: tensor<1x4x16xf32>) -> tensor<2x8x4xf32> {
  %0 = fusion.convolution %dy [0, 4, 2], %w [4, 3, 2] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x4x16xf32>, tensor<1x4x16xf32> -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
