// Convolutions along sharded dimensions: the local one is computed without padding on what its windows cover.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-localize --canonicalize --spmd-simplify-collectives | FileCheck %s

// A halo on both sides.
// CHECK-LABEL: @halo
sgd.mesh @mesh = <["h"=4]>
func.func @halo(%x: tensor<2x8x6x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}, {}]>}, %w: tensor<3x3x1x4x5xf32>) -> tensor<2x8x6x1x5xf32> {
  // CHECK-NEXT: %[[COVERED:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 1, size = 8, scale = 2, offset = -1>]
  // CHECK-SAME: bytes = 384 : i64
  // CHECK-NEXT: sgd.convolution %[[COVERED]], %arg1 strides = [1, 1] low = [0, 1] high = [0, 1] {{.*}} tensor<2x4x6x1x4xf32>, tensor<3x3x1x4x5xf32> -> tensor<2x2x6x1x5xf32>
  %0 = sgd.convolution %x, %w strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x6x1x4xf32>, tensor<3x3x1x4x5xf32> -> tensor<2x8x6x1x5xf32>
  return %0 : tensor<2x8x6x1x5xf32>
}

// -----

// Two dimensions: the second halo is of the widened tile, corners included.
// CHECK-LABEL: @two_dimensions
sgd.mesh @mesh = <["h"=2, "w"=2]>
func.func @two_dimensions(%x: tensor<1x8x8x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {"w"}, {}, {}]>}, %w: tensor<3x3x1x4x2xf32>) -> tensor<1x4x4x1x2xf32> {
  // CHECK-NEXT: %[[ROWS:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 1, size = 8, scale = 4, offset = -1>] <@mesh, {"h"}>
  // CHECK-NEXT: %[[ALL:.*]] = spmd.gather_range(%[[ROWS]]) ranges = [#sgd.range<dim = 2, size = 8, scale = 4, offset = -1>] <@mesh, {"w"}>
  // CHECK-NEXT: sgd.convolution %[[ALL]], %arg1 strides = [2, 2] low = [0, 0] high = [0, 0] {{.*}} : tensor<1x5x5x1x4xf32>
  %0 = sgd.convolution %x, %w strides = [2, 2] low = [1, 1] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<1x8x8x1x4xf32>, tensor<3x3x1x4x2xf32> -> tensor<1x4x4x1x2xf32>
  return %0 : tensor<1x4x4x1x2xf32>
}

// -----

// Every second row of a rank's own tile: nothing is sent.
// CHECK-LABEL: @projection
sgd.mesh @mesh = <["h"=4]>
func.func @projection(%x: tensor<2x16x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %w: tensor<1x1x4x5xf32>) -> tensor<2x8x1x5xf32> {
  // CHECK-NOT: gather_range
  // CHECK: sgd.convolution {{.*}} strides = [2] low = [0] high = [0]
  %0 = sgd.convolution %x, %w strides = [2] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x16x1x4xf32>, tensor<1x1x4x5xf32> -> tensor<2x8x1x5xf32>
  return %0 : tensor<2x8x1x5xf32>
}

// -----

// Dilation of the lhs stays the convolution's where all ranks begin at the same distance from an element.
// CHECK-LABEL: @input_gradient
sgd.mesh @mesh = <["h"=4]>
func.func @input_gradient(%g: tensor<2x8x1x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %w: tensor<3x1x3x4xf32>) -> tensor<2x16x1x4xf32> {
  // CHECK-NEXT: %[[COVERED:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 1, size = 8, scale = 2, offset = 0>]
  // CHECK-NEXT: sgd.convolution %[[COVERED]], %arg1 strides = [1] low = [1] high = [0] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x3x1x3xf32>
  %0 = sgd.convolution %g, %w strides = [1] low = [1] high = [2] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x8x1x3xf32>, tensor<3x1x3x4xf32> -> tensor<2x16x1x4xf32>
  return %0 : tensor<2x16x1x4xf32>
}

// -----

// The gradient of a filter: a rank's elements in all windows, then one sum.
// CHECK-LABEL: @filter_gradient
sgd.mesh @mesh = <["h"=4]>
func.func @filter_gradient(%x: tensor<4x8x1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %g: tensor<8x1x2x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"h"}, {}, {}, {}]>}) -> tensor<4x3x1x3xf32> {
  // CHECK-NEXT: %[[COVERED:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 1, size = 8, scale = 2, offset = -1>]
  // CHECK-NEXT: %[[PART:.*]] = sgd.convolution %[[COVERED]], %arg1 strides = [1] low = [0] high = [0] {{.*}} : tensor<4x4x1x2xf32>, tensor<2x1x2x3xf32> -> tensor<4x3x1x3xf32>
  // CHECK-NEXT: spmd.all_reduce add(%[[PART]]) <@mesh, {"h"}>
  %0 = sgd.convolution %x, %g strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<4x8x1x2xf32>, tensor<8x1x2x3xf32> -> tensor<4x3x1x3xf32>
  return %0 : tensor<4x3x1x3xf32>
}
