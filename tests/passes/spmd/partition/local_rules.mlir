// Ops whose attributes or values depend on the shard.
// RUN: sgd-opt %s --split-input-file --sgd-localize | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @iota
// CHECK: %[[ID:.*]] = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
// CHECK: %[[LOCAL:.*]] = sgd.iota dimension = 0 : tensor<2x3xf32>
// CHECK: %[[SIZE:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK: %[[OFFSET:.*]] = arith.muli %[[ID]], %[[SIZE]]
// CHECK: %[[FLOAT:.*]] = arith.sitofp %[[OFFSET]] : tensor<i32> to tensor<f32>
// CHECK: %[[ALL:.*]] = sgd.broadcast_in_dim %[[FLOAT]] dims = [] : tensor<f32> -> tensor<2x3xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[LOCAL]], %[[ALL]]
// CHECK: sgd.iota dimension = 1 : tensor<2x3xi64>
// CHECK: return %[[SUM]]
func.func @iota() -> (tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x3xi64, #sgd.sharding<@mesh, [{"x"}, {}]>>) {
  %0 = sgd.iota dimension = 0 : tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %1 = sgd.iota dimension = 1 : tensor<8x3xi64, #sgd.sharding<@mesh, [{"x"}, {}]>>
  return %0, %1 : tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x3xi64, #sgd.sharding<@mesh, [{"x"}, {}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @constants
// CHECK: arith.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK: %[[WHOLE:.*]] = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
// CHECK: spmd.shard_slice %[[WHOLE]] dim = 0 <@mesh, {"x"}> : tensor<8xi32> -> tensor<2xi32>
func.func @constants() -> (tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>, tensor<8xi32, #sgd.sharding<@mesh, [{"x"}]>>) {
  %0 = arith.constant dense<1.0> : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  %1 = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32, #sgd.sharding<@mesh, [{"x"}]>>
  return %0, %1 : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>, tensor<8xi32, #sgd.sharding<@mesh, [{"x"}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Sizes of whole dimensions follow their shard.
// CHECK-LABEL: func.func @sizes
// CHECK: sgd.slice %arg0 starts = [0, 1] limits = [2, 5] strides = [1, 1] : tensor<2x6xf32> -> tensor<2x4xf32>
// CHECK: sgd.pad %{{.*}}, %{{.*}} low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<2x4xf32>, tensor<f32> -> tensor<2x6xf32>
// CHECK: sgd.concatenate %{{.*}}, %{{.*}} dimension = 1 : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<2x10xf32>
// CHECK: sgd.dynamic_slice %{{.*}} sizes = [2, 3]
// CHECK: sgd.reshape %arg0 : tensor<2x6xf32> -> tensor<12xf32>
func.func @sizes(%a: tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, %i: tensor<i32, #sgd.sharding<@mesh, []>>)
    -> (tensor<8x10xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<48xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  %0 = sgd.slice %a starts = [0, 1] limits = [8, 5] strides = [1, 1] : tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %zero = arith.constant dense<0.0> : tensor<f32, #sgd.sharding<@mesh, []>>
  %1 = sgd.pad %0, %zero low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<f32, #sgd.sharding<@mesh, []>> -> tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %2 = sgd.concatenate %1, %0 dimension = 1 : (tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<8x10xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %3 = sgd.dynamic_slice %a, %i, %i sizes = [8, 3] : (tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<i32, #sgd.sharding<@mesh, []>>, tensor<i32, #sgd.sharding<@mesh, []>>) -> tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %4 = sgd.reshape %a : tensor<8x6xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<48xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return %2, %3, %4 : tensor<8x10xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<48xf32, #sgd.sharding<@mesh, [{"x"}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Rows looked up by sharded indices; the window of a table whose columns are sharded.
// CHECK-LABEL: func.func @lookup
// CHECK: sgd.gather %arg0, %arg1 {{.*}}slice_sizes = array<i64: 1, 4>{{.*}} : (tensor<10x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
// CHECK: sgd.gather %arg2, %arg3 {{.*}}slice_sizes = array<i64: 1, 1>{{.*}} : (tensor<10x1xf32>, tensor<8x1xi32>) -> tensor<8x1xf32>
func.func @lookup(%t: tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}]>>, %i: tensor<8x1xi32, #sgd.sharding<@mesh, [{"x"}, {}]>>,
    %u: tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>, %j: tensor<8x1xi32, #sgd.sharding<@mesh, [{}, {}]>>)
    -> (tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>) {
  %0 = sgd.gather %t, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>}
      : (tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<8x1xi32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %1 = sgd.gather %u, %j {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>}
      : (tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>, tensor<8x1xi32, #sgd.sharding<@mesh, [{}, {}]>>) -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  return %0, %1 : tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Updates on all ranks onto zeros: summands, then one reduction.
// CHECK-LABEL: func.func @scatter
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<10x4xf32>
// CHECK: %[[S:.*]] = sgd.scatter add %[[ZERO]], %arg0, %arg1 {{.*}} : (tensor<10x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<10x4xf32>
// CHECK: spmd.all_reduce add(%[[S]])
func.func @scatter(%i: tensor<8x1xi32, #sgd.sharding<@mesh, [{"x"}, {}]>>, %u: tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}]>> {
  %zero = arith.constant dense<0.0> : tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  %0 = sgd.scatter add %zero, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
      : (tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>, tensor<8x1xi32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  %1 = sgd.reshard %0 : tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>> -> tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
  return %1 : tensor<10x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
}
