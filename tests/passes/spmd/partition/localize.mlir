// Global shapes with shardings become local shapes with collectives.
// RUN: sgd-opt %s --split-input-file --sgd-localize | FileCheck %s

sgd.mesh @mesh = <["data"=4]>

// CHECK-LABEL: func.func @data_parallel
// CHECK-SAME: %arg0: tensor<8x16xf32> {sgd.global_type = tensor<32x16xf32>, sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: %arg1: tensor<16x4xf32> {sgd.global_type = tensor<16x4xf32>
// CHECK-SAME: -> (tensor<16x4xf32> {sgd.global_type = tensor<16x4xf32>, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>})
// CHECK: %[[H:.*]] = sgd.dot_general %arg0, %arg1 {{.*}} : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
// CHECK: %[[G:.*]] = sgd.dot_general %arg0, %[[H]] {{.*}} : tensor<8x16xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
// CHECK: %[[R:.*]] = spmd.all_reduce add(%[[G]]) <@mesh, {"data"}>
// CHECK-SAME: sgd.decisions = [#sgd.decision<movement, {bytes = 384 : i64, cause = "producer", chosen = "all_reduce", from = "[{}, {}], unreduced={\22data\22}", op = "sgd.dot_general", seconds = {{[0-9.E-]+}} : f64,
// CHECK-SAME: source = "{{.*}}localize.mlir:20:8", step = 1 : i64, steps = 1 : i64, subject = "result0, tensor<16x4xf32>", to = "[{}, {}]"}>]
// CHECK: return %[[R]] : tensor<16x4xf32>
func.func @data_parallel(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> {sgd.name = "x"}, %w: tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}]>>)
    -> tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}]>> {
  %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<32x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %g = sgd.dot_general %x, %h batching = [] x [] contracting = [0] x [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<32x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %r = sgd.reshard %g : tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
  return %r : tensor<16x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=2]>

// Each change of sharding is the collective that the planner finds.
// CHECK-LABEL: func.func @reshards
// CHECK: spmd.all_to_all %arg0 split = 1 concat = 0 <@mesh, {"x"}> {{.*}} : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK: spmd.shard_slice %{{.*}} dim = 0 <@mesh, {"x"}> : tensor<8x8xf32> -> tensor<4x8xf32>
// CHECK: spmd.collective_permute %{{.*}} from <@mesh, {"x", "y"}> to <@mesh, {"y", "x"}>
// CHECK: spmd.all_gather(%{{.*}}) dims = [0] <@mesh, {"x"}> {{.*}} : (tensor<2x8xf32>) -> tensor<4x8xf32>
func.func @reshards(%a: tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, %b: tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, %c: tensor<8x8xf32, #sgd.sharding<@mesh, [{"x", "y"}, {}]>>)
    -> (tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>, tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x8xf32, #sgd.sharding<@mesh, [{"y"}, {}]>>) {
  %0 = sgd.reshard %a : tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %1 = sgd.reshard %b : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %2 = sgd.reshard %c : tensor<8x8xf32, #sgd.sharding<@mesh, [{"x", "y"}, {}]>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{"y"}, {}]>>
  return %0, %1, %2 : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>, tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x8xf32, #sgd.sharding<@mesh, [{"y"}, {}]>>
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=4]>

// Part of an axis moves.
// CHECK-LABEL: func.func @sub_axis
// CHECK: spmd.all_to_all %arg0 split = 1 concat = 0 <@mesh, {"y":(2)2}>
func.func @sub_axis(%a: tensor<8x8xf32, #sgd.sharding<@mesh, [{"y"}, {"x"}]>>) -> tensor<8x8xf32, #sgd.sharding<@mesh, [{"y":(1)2}, {"x", "y":(2)2}]>> {
  %0 = sgd.reshard %a : tensor<8x8xf32, #sgd.sharding<@mesh, [{"y"}, {"x"}]>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{"y":(1)2}, {"x", "y":(2)2}]>>
  return %0 : tensor<8x8xf32, #sgd.sharding<@mesh, [{"y":(1)2}, {"x", "y":(2)2}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A whole value becomes a sum by standing on the first rank only.
// CHECK-LABEL: func.func @mask
// CHECK: %[[ID:.*]] = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ID]], %{{.*}} : tensor<i32>
// CHECK: %[[MASK:.*]] = sgd.broadcast_in_dim %[[FIRST]] dims = [] : tensor<i1> -> tensor<8xi1>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: arith.select %[[MASK]], %arg0, %[[ZERO]]
func.func @mask(%a: tensor<8xf32, #sgd.sharding<@mesh, [{}]>>, %p: tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>) -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>> {
  %s = sgd.reduce add %p dimensions = [1] : tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %m = sgd.reshard %a : tensor<8xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %t = arith.addf %s, %m : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %r = sgd.reshard %t : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
  return %r : tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Five rows on four ranks: tiles of two, the last of them empty. Only what combines rows hides the padding, once for
// all its readers.
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: %arg0: tensor<2x3xf32> {sgd.global_type = tensor<5x3xf32>
// CHECK: %[[ID:.*]] = spmd.partition_id <@mesh, {"x"}>
// CHECK: %[[NEG:.*]] = arith.negf %arg0 : tensor<2x3xf32>
// CHECK: %[[TILE:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ID]], %[[TILE]]
// CHECK: %[[SIZE:.*]] = arith.constant dense<5> : tensor<i32>
// CHECK: %[[LEFT:.*]] = arith.subi %[[SIZE]], %[[BEFORE]]
// CHECK: %[[IOTA:.*]] = sgd.iota dimension = 0 : tensor<2x3xi32>
// CHECK: %[[LIMIT:.*]] = sgd.broadcast_in_dim %[[LEFT]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[IOTA]], %[[LIMIT]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK: %[[FILLED:.*]] = arith.select %[[INSIDE]], %[[NEG]], %[[ZERO]]
// CHECK: sgd.reduce add %[[FILLED]] dimensions = [0]
// CHECK-NOT: arith.select
// CHECK: sgd.dot_general %[[FILLED]], %[[FILLED]]
// CHECK: sgd.reduce max %[[NEG]] dimensions = [1]
func.func @uneven(%a: tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<5xf32, #sgd.sharding<@mesh, [{"x"}]>> {
  %n = arith.negf %a : tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %0 = sgd.reduce add %n dimensions = [0] : tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<3xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %1 = sgd.dot_general %n, %n batching = [] x [] contracting = [0] x [0] : tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<3x3xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  %2 = sgd.reduce max %n dimensions = [1] : tensor<5x3xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<5xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return %2 : tensor<5xf32, #sgd.sharding<@mesh, [{"x"}]>>
}

// -----

sgd.mesh @mesh = <["x"=2]>

// Rows of eight, three on the first rank and two on the second, become tiles of twenty: ranks fetch what they lack.
// CHECK-LABEL: func.func @reshape_of_uneven_rows
// CHECK: %[[FLAT:.*]] = sgd.reshape %arg0 : tensor<3x8xf32> -> tensor<24xf32>
// CHECK: %[[TILE:.*]] = spmd.gather_range(%[[FLAT]]) ranges = [#sgd.range<dim = 0, size = 40, scale = 20, offset = 0>] <@mesh, {"x"}> to <@mesh, {"x"}> {{.*}} : (tensor<24xf32>) -> tensor<20xf32>
// CHECK: return
func.func @reshape_of_uneven_rows(%a: tensor<5x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) -> tensor<40xf32, #sgd.sharding<@mesh, [{"x"}]>> {
  %0 = sgd.reshape %a : tensor<5x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<40xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return %0 : tensor<40xf32, #sgd.sharding<@mesh, [{"x"}]>>
}

// -----

sgd.mesh @mesh = <["x"=2]>

// A rank's slice is the summand that it holds; shards become summands where they are in the whole.
// CHECK-LABEL: func.func @summands
// CHECK-SAME: -> (tensor<1x8xf32> {sgd.global_type = tensor<2x8xf32>, {{.*}}}, tensor<2x8xf32> {{.*}})
// CHECK: %[[ID:.*]] = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
// CHECK: %[[OUT:.*]] = sgd.reshape %arg0 : tensor<8xf32> -> tensor<1x8xf32>
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: %[[START:.*]] = arith.muli %[[ID]], %{{.*}} : tensor<i32>
// CHECK: %[[PLACED:.*]] = sgd.dynamic_update_slice %[[ZEROS]], %arg1, %[[START]]
// CHECK: spmd.all_reduce add(%[[PLACED]])
// CHECK: %[[ONE:.*]] = sgd.reshape %arg2 : tensor<8xf32> -> tensor<1x8xf32>
// CHECK: sgd.pad %[[ONE]], %{{.*}} low = [0, 0] high = [1, 0]
func.func @summands(%p: tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>, %a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>, %w: tensor<8xf32, #sgd.sharding<@mesh, [{}]>>)
    -> (tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8xf32, #sgd.sharding<@mesh, [{}]>>, tensor<2x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) {
  %0 = sgd.summands %p : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>> -> tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %1 = sgd.reshard %a : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %2 = sgd.reshard %1 : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
  %3 = sgd.summands %w : tensor<8xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<2x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  return %0, %2, %3 : tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8xf32, #sgd.sharding<@mesh, [{}]>>, tensor<2x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
}
