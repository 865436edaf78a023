// RUN: sgd-opt %s --split-input-file --spmd-merge-ranges | FileCheck %s

// The three elements of a window share one halo.
// CHECK-LABEL: @window
sgd.mesh @mesh = <["x"=4]>
func.func @window(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[ALL:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = -1>] {{.*}} -> tensor<6x8xf32>
  // CHECK-NEXT: %[[A:.*]] = sgd.slice %[[ALL]] starts = [0, 0] limits = [4, 8] strides = [1, 1]
  // CHECK-NEXT: %[[C:.*]] = sgd.slice %[[ALL]] starts = [1, 0] limits = [4, 8] strides = [2, 1]
  // CHECK-NEXT: %[[B:.*]] = sgd.slice %[[ALL]] starts = [2, 0] limits = [6, 8] strides = [1, 1]
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = -1>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = 1>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = 0, step = 2>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>
}

// -----

// Ranges far apart would bring along the elements in between.
// CHECK-LABEL: @apart
sgd.mesh @mesh = <["x"=4]>
func.func @apart(%a: tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  // CHECK-COUNT-2: spmd.gather_range
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = -4>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<1xf32>
  %1 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = 6>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<1xf32>
  return %0, %1 : tensor<1xf32>, tensor<1xf32>
}

// -----

// Both parts of a rotation: the last rank sends one, the others the other.
// CHECK-LABEL: @rotation
sgd.mesh @mesh = <["x"=8]>
func.func @rotation(%a: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  // CHECK-NEXT: %[[ALL:.*]]:2 = spmd.gather_range(%arg0, %arg0) ranges = [#sgd.range<dim = 0, size = 8, scale = 1, offset = 7>, #sgd.range<dim = 0, size = 7, scale = 1, offset = -1>]
  // CHECK-NEXT: return %[[ALL]]#0, %[[ALL]]#1
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 8, scale = 1, offset = 7>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 7, scale = 1, offset = -1>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %0, %1 : tensor<1x8xf32>, tensor<1x8xf32>
}
