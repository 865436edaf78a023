// RUN: sgd-opt %s --sgd-import-stablehlo | FileCheck %s

// Zeros around the images and between their elements are the convolution's padding and dilation.
// CHECK-LABEL: func.func @explicit_padding
// CHECK: %[[X:.*]] = sgd.reshape %arg0
// CHECK: sgd.convolution %[[X]], {{.*}}low = [1, 0] high = [2, 1]{{.*}}lhs_dilations = [2, 1]
func.func public @explicit_padding(%x: tensor<2x4x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x8x7x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %value = stablehlo.convert %zero : (tensor<i32>) -> tensor<f32>
  %0 = stablehlo.pad %x, %value, low = [0, 1, 0, 0], high = [0, 2, 0, 0], interior = [0, 1, 0, 0] : (tensor<2x4x8x3xf32>, tensor<f32>) -> tensor<2x10x8x3xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x10x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x8x7x4xf32>
  return %1 : tensor<2x8x7x4xf32>
}

// Padding of features, padding by another number and padding that is dilated after it stay.
// CHECK-LABEL: func.func @other_padding
// CHECK: %[[A:.*]] = sgd.pad
// CHECK: %[[B:.*]] = sgd.reshape %[[A]]
// CHECK: sgd.convolution %[[B]]
// CHECK: %[[C:.*]] = sgd.pad
// CHECK: %[[D:.*]] = sgd.reshape %[[C]]
// CHECK: sgd.convolution %[[D]]
// CHECK: %[[E:.*]] = sgd.pad
// CHECK: %[[F:.*]] = sgd.reshape %[[E]]
// CHECK: sgd.convolution %[[F]]
func.func public @other_padding(%x: tensor<1x4x3xf32>, %w: tensor<2x4x4xf32>, %v: tensor<2x3x4xf32>)
    -> (tensor<1x3x4xf32>, tensor<1x4x4xf32>, tensor<1x8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x4x3xf32>, tensor<f32>) -> tensor<1x4x4xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4xf32>, tensor<2x4x4xf32>) -> tensor<1x3x4xf32>
  %2 = stablehlo.pad %x, %one, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x4x3xf32>, tensor<f32>) -> tensor<1x5x3xf32>
  %3 = stablehlo.convolution(%2, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x3xf32>, tensor<2x3x4xf32>) -> tensor<1x4x4xf32>
  %4 = stablehlo.pad %x, %zero, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x4x3xf32>, tensor<f32>) -> tensor<1x5x3xf32>
  %5 = stablehlo.convolution(%4, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x3xf32>, tensor<2x3x4xf32>) -> tensor<1x8x4xf32>
  return %1, %3, %5 : tensor<1x3x4xf32>, tensor<1x4x4xf32>, tensor<1x8x4xf32>
}
