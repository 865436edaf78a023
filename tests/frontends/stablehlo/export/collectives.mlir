// Collectives over mesh axes as lists of partitions.
// RUN: sgd-opt %s -sgd-export-stablehlo -split-input-file | FileCheck %s
// RUN: sgd-opt %s -sgd-export-stablehlo -split-input-file | sgd-opt -split-input-file | FileCheck %s

// CHECK: module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["data"=2, "model"=2]>
func.func @groups(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  // CHECK: "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[}}[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}>
  // CHECK: stablehlo.maximum
  %0 = spmd.all_reduce max(%x) <@mesh, {"data"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64
  // CHECK: stablehlo.add
  %1 = spmd.reduce_scatter add(%x) dims = [0] <@mesh, {"model"}> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64{{.*}}replica_groups = dense<{{\[}}[0, 2], [1, 3]]>
  %2 = spmd.all_gather(%x) dims = [0] <@mesh, {"data"}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: "stablehlo.all_to_all"(%arg0) <{{.*}}concat_dimension = 0 : i64, replica_groups = dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64
  %3 = spmd.all_to_all %x split = 1 concat = 0 <@mesh, {"model"}> : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: "stablehlo.collective_permute"(%arg0) <{{.*}}source_target_pairs = dense<{{\[}}[0, 0], [1, 2], [2, 1], [3, 3]]>
  %4 = spmd.collective_permute %x from <@mesh, {"data", "model"}> to <@mesh, {"model", "data"}> : tensor<4x8xf32>
  // CHECK: return
  return %0, %1, %2, %3, %4 : tensor<4x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}

// -----

// The order of a group is that of its axes; sub-axes are parts of an axis.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @orders(%x: tensor<4xf32>) -> (tensor<32xf32>, tensor<8xf32>, tensor<4xf32>) {
  // CHECK: replica_groups = dense<{{\[}}[0, 2, 4, 6, 1, 3, 5, 7]]>
  %0 = spmd.all_gather(%x) dims = [0] <@mesh, {"y", "x"}> : (tensor<4xf32>) -> tensor<32xf32>
  // CHECK: replica_groups = dense<{{\[}}[0, 4], [1, 5], [2, 6], [3, 7]]>
  %1 = spmd.all_gather(%x) dims = [0] <@mesh, {"x":(1)2}> : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: "stablehlo.collective_broadcast"(%arg0) <{{.*}}replica_groups = dense<{{\[}}[0, 2], [1, 3], [4, 6], [5, 7]]>
  %2 = spmd.broadcast %x <@mesh, {"x":(2)2}> : tensor<4xf32>
  return %0, %1, %2 : tensor<32xf32>, tensor<8xf32>, tensor<4xf32>
}

// -----

// A bucket is an op for each element type, or for each operand where ops have one. Maxima of unsigned integers are so.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=2]>
func.func @buckets(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<3xi32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<3xi32>, tensor<3xi32>) {
  // CHECK: "stablehlo.all_reduce"(%arg0, %arg1)
  // CHECK: tensor<f32>
  // CHECK: "stablehlo.all_reduce"(%arg2)
  // CHECK: tensor<i32>
  %0:3 = spmd.all_reduce add(%a, %b, %c) <@mesh, {"x"}> : (tensor<4xf32>, tensor<2xf32>, tensor<3xi32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<3xi32>)
  // CHECK: %[[U:.*]] = stablehlo.bitcast_convert %arg2 : (tensor<3xi32>) -> tensor<3xui32>
  // CHECK: %[[M:.*]] = "stablehlo.all_reduce"(%[[U]])
  // CHECK: stablehlo.maximum %{{.*}} : tensor<ui32>
  // CHECK: stablehlo.bitcast_convert %[[M]] : (tensor<3xui32>) -> tensor<3xi32>
  %1 = spmd.all_reduce umax(%c) <@mesh, {"x"}> : (tensor<3xi32>) -> tensor<3xi32>
  return %0#0, %0#1, %0#2, %1 : tensor<4xf32>, tensor<2xf32>, tensor<3xi32>, tensor<3xi32>
}

// -----

// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=2, "y"=3, "z"=2]>
func.func @coordinates(%x: tensor<6x2xf32>) -> (tensor<i32>, tensor<2x2xf32>) {
  // CHECK: %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
  // CHECK: %[[RANK:.*]] = stablehlo.convert %[[ID]] : (tensor<ui32>) -> tensor<i32>
  // CHECK: stablehlo.divide %[[RANK]], %{{.*}} : tensor<i32>
  // CHECK: stablehlo.remainder %[[RANK]], %{{.*}} : tensor<i32>
  // CHECK: stablehlo.add
  %0 = spmd.partition_id <@mesh, {"x", "z"}> : tensor<i32>
  // CHECK: %[[START:.*]] = stablehlo.multiply
  // CHECK: stablehlo.dynamic_slice %arg0, %[[START]], %{{.*}}, sizes = [2, 2]
  %1 = spmd.shard_slice %x dim = 0 <@mesh, {"y"}> : tensor<6x2xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<i32>, tensor<2x2xf32>
}

// -----

// A halo of one row on both sides: permutes of rows around the rank's own. The border has zeros.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=3]>
func.func @halo(%x: tensor<4x8xf32>) -> tensor<6x8xf32> {
  // CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4, 0:8]
  // CHECK: %[[BEFORE:.*]] = "stablehlo.collective_permute"(%[[LAST]]) <{{.*}}source_target_pairs = dense<{{\[}}[0, 1], [1, 2]]>
  // CHECK: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:1, 0:8]
  // CHECK: %[[AFTER:.*]] = "stablehlo.collective_permute"(%[[FIRST]]) <{{.*}}source_target_pairs = dense<{{\[}}[1, 0], [2, 1]]>
  // CHECK: stablehlo.concatenate %[[BEFORE]], %arg0, %[[AFTER]], dim = 0
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 12, scale = 4, offset = -1>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<4x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// Each rank to the next: jax.lax.ppermute.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=4]>
func.func @shift(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: "stablehlo.collective_permute"(%arg0) <{{.*}}source_target_pairs = dense<{{\[}}[0, 1], [1, 2], [2, 3]]>
  // CHECK-NEXT: return
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 8, scale = 2, offset = -2>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// All ranks take the same row of one: its sender comes first.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=4]>
func.func @row_of_one(%x: tensor<2x8xf32>) -> tensor<1x8xf32> {
  // CHECK: %[[ROW:.*]] = stablehlo.slice %arg0 [1:2, 0:8]
  // CHECK: "stablehlo.collective_broadcast"(%[[ROW]]) <{{.*}}replica_groups = dense<{{\[}}[1, 0, 2, 3]]>
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 8, scale = 0, offset = 3>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<2x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=4]>
func.func @no_rows(%x: tensor<2x8xf32>) -> tensor<0x8xf32> {
  // CHECK: stablehlo.constant dense<0.000000e+00> : tensor<0x8xf32>
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 8, scale = 0, offset = 0>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<2x8xf32>) -> tensor<0x8xf32>
  return %0 : tensor<0x8xf32>
}

// -----

// Tiles of four rows over tiles of three: pieces have other places on each rank.
// CHECK-LABEL: func.func @main
sgd.mesh @mesh = <["x"=4]>
func.func @other_range(%x: tensor<3x8xf32>) -> tensor<4x8xf32> {
  // CHECK: stablehlo.custom_call @spmd.gather_range(%arg0) {backend_config = "{axes = #sgd.axes<@mesh, {\22x\22}>, ranges = [#sgd.range<dim = 0, size = 12, scale = 4, offset = 0
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 12, scale = 4, offset = 0>] <@mesh, {"x"}> to <@mesh, {"x"}> : (tensor<3x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
