// Rows and columns pass through; groups and contracted elements that are sharded give parts of sums.
// RUN: sgd-opt %s -sgd-shard -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK: sgd.grouped_dot {{.*}} -> tensor<64x32xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @rows(%x: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x16x32xf32>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> tensor<64x32xf32> {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// -----

// CHECK-LABEL: func.func @experts(
// CHECK: sgd.grouped_dot {{.*}} -> tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
sgd.mesh @mesh = <["x"=2]>
func.func @experts(%x: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %w: tensor<4x16x32xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> (tensor<64x32xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
