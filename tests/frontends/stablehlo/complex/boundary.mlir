// Complex arguments and results of public functions are tensors of pairs, which are never sharded; complex128 is not marked, since tensor files
// do not have it. Inside there are parts.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

sdy.mesh @mesh = <["data"=2]>
// CHECK-LABEL: func @main
// CHECK-SAME: %[[Z:[a-z0-9]+]]: tensor<4x3x2xf32> {sgd.alias_output = 0 : i64, sgd.complex, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>}
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x3x2xf64>)
// CHECK-SAME: -> (tensor<4x3x2xf32> {sgd.complex, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {?}, {}]>}, tensor<4x3x2xf64>)
func.func @main(%z: tensor<4x3xcomplex<f32>> {tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<4x3xcomplex<f64>>)
    -> (tensor<4x3xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>}, tensor<4x3xcomplex<f64>>) {
  // CHECK: %[[FIRST:.*]] = sgd.slice %[[Z]] starts = [0, 0, 0] limits = [4, 3, 1]
  // CHECK: %[[RE:.*]] = sgd.reshape %[[FIRST]] : tensor<4x3x1xf32> -> tensor<4x3xf32>
  // CHECK: arith.negf %[[RE]] : tensor<4x3xf32>
  // CHECK: sgd.concatenate {{.*}} tensor<4x3x2xf32>
  %0 = stablehlo.negate %z : tensor<4x3xcomplex<f32>>
  return %0, %w : tensor<4x3xcomplex<f32>>, tensor<4x3xcomplex<f64>>
}

// -----

// Strings get one more dimension, before the sizes of groups that hold the same.
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK-LABEL: func @main
  // CHECK-SAME: tensor<4x2xf32> {sgd.complex, sgd.sharding = #sgd.sharding<@mesh, [{"axis_0"}, {}]>}
  // CHECK-SAME: tensor<4x2xf32> {sgd.complex, sgd.sharding = #sgd.sharding<@mesh, [{"axis_0", "axis_1"}, {}]>}
  func.func @main(%x: tensor<4xcomplex<f32>> {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"}, %y: tensor<4xcomplex<f32>> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4xcomplex<f32>>
    %1 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Nothing is left of numbers that a program takes apart again.
// CHECK-LABEL: func @parts
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
func.func @parts(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: return %[[Y]], %[[X]]
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
