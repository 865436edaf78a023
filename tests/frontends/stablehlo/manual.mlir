// Manual computations, and the axes of their collectives found in lists of ranks.
// RUN: sgd-opt %s --sgd-import-stablehlo --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func.func @main
// CHECK: sgd.manual_computation(%arg0)
// CHECK-SAME: in [#sgd.sharding<@mesh, [{"x"}, {}]>] out [#sgd.sharding<@mesh, [{"x"}, {}]>, #sgd.sharding<@mesh, []>] over <@mesh, {"x", "y"}> {
// CHECK: ^bb0(%[[A:.*]]: tensor<4x8xf32>):
// CHECK: %[[SUM:.*]] = spmd.all_reduce add(%[[A]]) <@mesh, {"x"}>
// CHECK: %[[MAX:.*]] = spmd.all_reduce max(%[[SUM]]) <@mesh, {"x", "y"}>
// CHECK: %[[PARTS:.*]] = spmd.reduce_scatter add(%[[MAX]]) dims = [1] <@mesh, {"y"}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
// CHECK: %[[WHOLE:.*]] = spmd.all_gather(%[[PARTS]]) dims = [1] <@mesh, {"y"}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
// CHECK: %[[MOVED:.*]] = spmd.all_to_all %[[WHOLE]] split = 0 concat = 1 <@mesh, {"x"}> : tensor<4x8xf32> -> tensor<1x32xf32>
// CHECK: %[[SENT:.*]] = sgd.permute_ranks %[[MOVED]] pairs = [0, 1, 1, 2, 2, 3, 3, 0] over <@mesh, {"x"}>
// CHECK: %[[FIRST:.*]] = spmd.broadcast %[[SENT]] <@mesh, {"y"}>
// CHECK: spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
// CHECK: sgd.yield %[[FIRST]]
func.func public @main(%arg0: tensor<16x8xf32>) -> (tensor<4x32xf32>, tensor<ui32>) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] manual_axes={"x", "y"} (%a: tensor<4x8xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.reduce_scatter"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %4 = "stablehlo.all_gather"(%3) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
    %5 = "stablehlo.all_to_all"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<1x32xf32>
    %6 = "stablehlo.collective_permute"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 4], [4, 6], [6, 0], [1, 3], [3, 5], [5, 7], [7, 1]]> : tensor<8x2xi64>}> : (tensor<1x32xf32>) -> tensor<1x32xf32>
    %7 = "stablehlo.collective_broadcast"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> : (tensor<1x32xf32>) -> tensor<1x32xf32>
    %8 = stablehlo.partition_id : tensor<ui32>
    sdy.return %7, %8 : tensor<1x32xf32>, tensor<ui32>
  } : (tensor<16x8xf32>) -> (tensor<4x32xf32>, tensor<ui32>)
  return %0#0, %0#1 : tensor<4x32xf32>, tensor<ui32>
}

// -----

// A program of one device has no manual computation, and communicates with itself alone.
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  // CHECK-LABEL: func.func @one_device
  // CHECK-NEXT: %[[ID:.*]] = arith.constant dense<0> : tensor<i32>
  // CHECK-NEXT: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
  // CHECK-NEXT: return %arg0, %[[ID]], %[[NONE]]
  func.func public @one_device(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<ui32>, tensor<4x8xf32>) {
    %1 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.reduce_scatter"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = "stablehlo.all_to_all"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = "stablehlo.collective_permute"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %6 = "stablehlo.collective_broadcast"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.partition_id : tensor<ui32>
    %8 = "stablehlo.collective_permute"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %6, %7, %8 : tensor<4x8xf32>, tensor<ui32>, tensor<4x8xf32>
  }
}
