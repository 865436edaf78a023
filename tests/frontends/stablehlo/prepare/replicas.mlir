// jax.pmap of JAX up to 0.7: replicas along an axis; tensors hold all of them.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: sgd.mesh @mesh = <["replica"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<3x2xf32>) -> (tensor<2x4xf32>, tensor<2xi32>, tensor<4xf32>)
// CHECK: sgd.manual_computation(%arg0, %arg1, %arg2) in [#sgd.sharding<@mesh, [{"replica"}, {}]>, #sgd.sharding<@mesh, [{}]>, #sgd.sharding<@mesh, [{}, {"replica"}]>] out [#sgd.sharding<@mesh, [{"replica"}, {}]>, #sgd.sharding<@mesh, [{"replica"}]>, #sgd.sharding<@mesh, [{}]>] over <@mesh, {"replica"}>
// CHECK: spmd.all_reduce
// CHECK: spmd.partition_id
module @pmap_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<1x4xf32>, %same: tensor<4xf32> {mhlo.is_same_data_across_replicas = true}, %z: tensor<3x1xf32>) -> (tensor<1x4xf32>, tensor<1xi32>, tensor<4xf32>) {
    %0 = stablehlo.reshape %x : (tensor<1x4xf32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %z : (tensor<3x1xf32>) -> tensor<3xf32>
    %2 = stablehlo.add %0, %same : tensor<4xf32>
    %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %7 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %id = stablehlo.replica_id : tensor<ui32>
    %4 = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    return %6, %5, %3 : tensor<1x4xf32>, tensor<1xi32>, tensor<4xf32>
  }
}

// -----

// Before JAX 0.4.31 replicas do not see the dimension: it comes first.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: sgd.reshape %{{.*}} : tensor<1x4xf32> -> tensor<4xf32>
module @pmap_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{program has 2 replicas, as jax.pmap makes them, and shardings within each}}
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
