// Gather, scatter and dynamic slices whose indexed dimensions are sharded.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-place-reductions --sgd-localize | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

// A table sharded by rows, for a batch that is sharded over the same axis: indices travel, then each rank adds the rows it holds.
// Clamping is that of all 100 rows.
// CHECK-LABEL: func.func @embedding
// CHECK: %[[ID:.*]] = spmd.partition_id
// CHECK: %[[ALL:.*]] = spmd.all_gather(%arg1) {{.*}} : (tensor<2xi32>) -> tensor<8xi32>
// CHECK: %[[LAST:.*]] = arith.constant dense<99> : tensor<8xi32>
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: %[[LOCAL:.*]] = arith.subi
// CHECK: arith.constant dense<25> : tensor<8xi32>
// CHECK: %[[IS_SMALL:.*]] = arith.cmpi slt, %[[LOCAL]]
// CHECK: %[[HELD:.*]] = arith.andi %{{.*}}, %[[IS_SMALL]]
// CHECK: %[[ROWS:.*]] = sgd.gather %arg0, %[[LOCAL]] {{.*}} : (tensor<25x64xf32>, tensor<8xi32>) -> tensor<8x64xf32>
// CHECK: %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : tensor<8x64xf32>
// CHECK: %[[MASK:.*]] = sgd.broadcast_in_dim %[[HELD]] dims = [0]
// CHECK: %[[PART:.*]] = arith.select %[[MASK]], %[[ROWS]], %[[NOTHING]]
// CHECK: spmd.reduce_scatter add(%[[PART]]) dims = [0] {{.*}} -> tensor<2x64xf32>
func.func @embedding(%table: tensor<100x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %tokens: tensor<8xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>})
    -> (tensor<8x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.gather %table, %tokens {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 64>}
    : (tensor<100x64xf32>, tensor<8xi32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Updates to a table sharded by rows: nothing is sent.
// CHECK-LABEL: func.func @scatter_rows
// CHECK-NOT: spmd.all
// CHECK: %[[LOCAL:.*]] = arith.subi
// CHECK: sgd.scatter add %arg0, %[[LOCAL]], %arg2 {{.*}} : (tensor<25x64xf32>, tensor<8xi32>, tensor<8x64xf32>) -> tensor<25x64xf32>
// CHECK-NEXT: return
func.func @scatter_rows(%table: tensor<100x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %tokens: tensor<8xi32>, %rows: tensor<8x64xf32>)
    -> (tensor<100x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.scatter add %table, %tokens, %rows {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<100x64xf32>, tensor<8xi32>, tensor<8x64xf32>) -> tensor<100x64xf32>
  return %0 : tensor<100x64xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Windows of 3 that may span two shards: one index per element, -1 where the whole window is not inside.
// CHECK-LABEL: func.func @scatter_windows
// CHECK-NOT: spmd.all
// CHECK: %[[BEYOND:.*]] = arith.constant dense<98> : tensor<8x3xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %[[BEYOND]]
// CHECK: %[[INDICES:.*]] = arith.select {{.*}} : tensor<8x3xi1>, tensor<8x3xi32>
// CHECK: sgd.scatter max %arg0, %[[INDICES]], %arg2 {{.*}}inserted_window_dims = array<i64: 0>{{.*}} : (tensor<25xf32>, tensor<8x3xi32>, tensor<8x3xf32>) -> tensor<25xf32>
func.func @scatter_windows(%a: tensor<100xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %starts: tensor<8xi32>, %windows: tensor<8x3xf32>)
    -> (tensor<100xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  %0 = sgd.scatter max %a, %starts, %windows {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64>, input_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<100xf32>, tensor<8xi32>, tensor<8x3xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// One row: the rank that holds it contributes it.
// CHECK-LABEL: func.func @dynamic_slice
// CHECK: %[[ROW:.*]] = sgd.dynamic_slice %arg0, %{{.*}} sizes = [1, 16] : (tensor<2x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
// CHECK: %[[PART:.*]] = arith.select %{{.*}}, %[[ROW]]
// CHECK: spmd.all_reduce add(%[[PART]])
func.func @dynamic_slice(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>, %j: tensor<i32>)
    -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.dynamic_slice %a, %i, %j sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A block of 3 rows written to shards of 2: each rank writes a block of 2 that holds what it already had where the update is not.
// CHECK-LABEL: func.func @dynamic_update_slice
// CHECK-NOT: spmd.all
// CHECK: %[[ROWS:.*]] = sgd.gather %arg1, %{{.*}} : (tensor<3x16xf32>, tensor<2xi32>) -> tensor<2x16xf32>
// CHECK: %[[BEFORE:.*]] = sgd.dynamic_slice %arg0, {{.*}} sizes = [2, 16]
// CHECK: %[[BLOCK:.*]] = arith.select %{{.*}}, %[[ROWS]], %[[BEFORE]]
// CHECK: sgd.dynamic_update_slice %arg0, %[[BLOCK]]
func.func @dynamic_update_slice(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<3x16xf32>, %i: tensor<i32>, %j: tensor<i32>)
    -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dynamic_update_slice %a, %u, %i, %j : (tensor<8x16xf32>, tensor<3x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
