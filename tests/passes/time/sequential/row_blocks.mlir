// Blocks of rows that a loop steps over: coordinates have a part of the rows of each block.
// RUN: sgd-opt %s --sgd-shard-sequential --split-input-file --verify-diagnostics | FileCheck %s

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<12x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!blocks = tensor<3x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
!block = tensor<1x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
!scalar = tensor<f32, #sgd.sharding<@mesh, []>>
!index = tensor<i32, #sgd.sharding<@mesh, []>>

// The argument and its blocks are whole, and readers cut the rows of a block. A sum of arguments alone, by which the loop divides, is computed for the whole block.
// CHECK-LABEL: @blocks(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<12x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<12x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK: %[[B:.*]] = sgd.reshape %[[X]] : {{.*}} -> tensor<3x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
// CHECK: %[[PART:.*]] = sgd.reshard %[[B]] : {{.*}} -> tensor<3x4x8xf32, #sgd.sharding<@mesh, [{}, {"micro"}, {}]>>
// CHECK: sgd.while({{.*}}%[[PART]]
// CHECK: sgd.reduce add {{.*}} dimensions = [0, 1, 2] : {{.*}} -> tensor<f32, #sgd.sharding<@mesh, []>>
// CHECK: sgd.reduce add {{.*}} dimensions = [0, 1] : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"micro"}>>
func.func @blocks(%x: !rows {sgd.sequential_dim = 0 : i64}, %m: !rows {sgd.sequential_dim = 0 : i64}, %start: !index, %none: !index) -> !row {
  %zero = arith.constant dense<0.0> : !row
  %b = sgd.reshape %x {sgd.sequential_dim = 1 : i64} : !rows -> !blocks
  %c = sgd.reshape %m {sgd.sequential_dim = 1 : i64} : !rows -> !blocks
  %0:5 = sgd.while(%start, %none, %b, %c, %zero) trips 3 do {
  ^bb0(%i: !index, %z: !index, %xs: !blocks, %ms: !blocks, %sum: !row):
    %one = arith.constant dense<1> : !index
    %own = sgd.dynamic_slice %xs, %i, %z, %z sizes = [1, 4, 8] : (!blocks, !index, !index, !index) -> !block
    %mask = sgd.dynamic_slice %ms, %i, %z, %z sizes = [1, 4, 8] : (!blocks, !index, !index, !index) -> !block
    %masked = arith.mulf %own, %mask : !block
    %count = sgd.reduce add %mask dimensions = [0, 1, 2] : !block -> !scalar
    %g = sgd.reduce add %masked dimensions = [0, 1] : !block -> !row
    %all = sgd.broadcast_in_dim %count dims = [] : !scalar -> !row
    %inverse = math.rsqrt %all : !row
    %mean = arith.mulf %g, %inverse : !row
    %more = arith.addf %sum, %mean : !row
    %next = arith.addi %i, %one : !index
    sgd.yield %next, %z, %xs, %ms, %more : !index, !index, !blocks, !blocks, !row
  } : (!index, !index, !blocks, !blocks, !row) -> (!index, !index, !blocks, !blocks, !row)
  return %0#4 : !row
}

// -----

// Blocks of activations need rows of all blocks in other parts: nothing names the rows of a block then, and the loop is whole.
sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!blocks = tensor<2x2x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>

// CHECK-LABEL: @activations(
// CHECK-SAME: tensor<4x8xf32, #sgd.sharding<@mesh, [{"micro"}, {}]>>
// CHECK: sgd.reshape {{.*}} -> tensor<2x2x8xf32, #sgd.sharding<@mesh, [{"micro"}, {}, {}]>>
func.func @activations(%x: !rows {sgd.sequential_dim = 0 : i64}, %w: !rows) -> !blocks {
  %h = arith.mulf %x, %w : !rows
  %b = sgd.reshape %h {sgd.sequential_dim = 1 : i64} : !rows -> !blocks
  return %b : !blocks
}
