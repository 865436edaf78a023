// The batch is cut over the sequential axis, and what is a sum over it is reduced before ranks exchange it.
// RUN: sgd-opt %s --sgd-shard-sequential --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sgd-opt %s --sgd-shard-sequential=sums-in-own-type --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=OWN

sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!matrix = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!partial = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>

// CHECK: sgd.mesh @mesh = <["micro"=4, "data"=2]>
// CHECK-LABEL: @gradient(
// CHECK-SAME: %[[X:.*]]: tensor<16x8xf32, #sgd.sharding<@mesh, [{"micro", "data"}, {}]>>
// CHECK-SAME: %[[W:.*]]: tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @gradient(%x: !rows {sgd.sequential_dim = 0 : i64}, %w: !matrix) -> (!rows, !matrix) {
  // CHECK: %[[Y:.*]] = sgd.dot_general %[[X]], %[[W]] {{.*}} -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"micro", "data"}, {}]>>
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : !rows, !matrix -> !rows
  // CHECK: %[[G:.*]] = sgd.dot_general %[[X]], %[[Y]] {{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"micro", "data"}>>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
  // CHECK: %[[SUM:.*]] = sgd.reshard %[[G]] {{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: %[[ALL:.*]] = sgd.reshard %[[SUM]] {{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %all = sgd.reshard %g : !partial -> !matrix
  %new = arith.subf %w, %all : !matrix
  return %y, %new : !rows, !matrix
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
!stack = tensor<3x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!block = tensor<1x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!index = tensor<i32, #sgd.sharding<@mesh, []>>

// A stack of a loop stays partial over the axis; the reduction happens after the loop.
// CHECK-LABEL: @stacked
func.func @stacked(%x: !rows {sgd.sequential_dim = 0 : i64}, %start: !index, %zero: !index) -> !stack {
  %none = arith.constant dense<0.0> : !stack
  // CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<3x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"micro"}>>
  // CHECK: %[[LOOP:.*]]:4 = sgd.while(%{{.*}}, %{{.*}}, %{{.*}}, %[[NONE]]) trips 3
  %0:4 = sgd.while(%start, %zero, %x, %none) trips 3 do {
  ^bb0(%i: !index, %z: !index, %rows: !rows, %all: !stack):
    %one = arith.constant dense<1> : !index
    %sum = sgd.reduce add %rows dimensions = [0] : !rows -> !row
    %block = sgd.reshape %sum : !row -> !block
    // CHECK: sgd.dynamic_update_slice {{.*}} -> tensor<3x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"micro"}>>
    %more = sgd.dynamic_update_slice %all, %block, %i, %z : (!stack, !block, !index, !index) -> !stack
    %next = arith.addi %i, %one : !index
    sgd.yield %next, %z, %rows, %more : !index, !index, !rows, !stack
  } : (!index, !index, !rows, !stack) -> (!index, !index, !rows, !stack)
  // CHECK: %[[SUM:.*]] = sgd.reshard %[[LOOP]]#3
  // CHECK: return %[[SUM]]
  return %0#3 : !stack
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>

// A loop that needs all rows in its body is whole: no loop over the axis could go through its iterations.
// CHECK-LABEL: @whole_loop
func.func @whole_loop(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !rows {
  // CHECK: %[[ALL:.*]] = sgd.reshard %{{.*}} : tensor<4x8xf32, #sgd.sharding<@mesh, [{"micro"}, {}]>> -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.while(%[[ALL]])
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%rows: !rows):
    %sum = sgd.reduce add %rows dimensions = [0] : !rows -> !row
    %every = sgd.broadcast_in_dim %sum dims = [1] : !row -> !rows
    // expected-remark @+1 {{needs rows of several parts of 'micro' inside of a loop, which is therefore computed for all parts at once and takes the memory of the whole batch; move it out}}
    %next = arith.subf %rows, %every : !rows
    sgd.yield %next : !rows
  } : (!rows) -> !rows
  return %0 : !rows
}

// -----

// Conversions of summands come before the sum is reduced, or behind it.
sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<16x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>
!matrix = tensor<8x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>
!wide = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>

// CHECK-LABEL: @widened(
// OWN-LABEL: @widened(
func.func @widened(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !wide {
  // CHECK: arith.extf {{.*}}unreduced={"micro"}>> to tensor<8x8xf32, {{.*}}unreduced={"micro"}>>
  // OWN: sgd.reshard {{.*}}unreduced={"micro"}{{.*}} -> tensor<8x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>
  // OWN: arith.extf {{.*}} to tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %g = sgd.dot_general %x, %x batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !matrix
  %w = arith.extf %g : !matrix to !wide
  return %w : !wide
}

// -----

// Tensors without elements are cut like their neighbors.
sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!none = tensor<16x0xf32, #sgd.sharding<@mesh, [{}, {}]>>

// CHECK-LABEL: @empty(
// CHECK-NOT: sgd.reshard
// CHECK: return
func.func @empty(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !rows {
  %0 = sgd.slice %x starts = [0, 0] limits = [16, 0] strides = [1, 1] : !rows -> !none
  %1 = arith.negf %0 : !none
  %2 = sgd.concatenate %x, %1 dimension = 1 : (!rows, !none) -> !rows
  return %2 : !rows
}

// -----

// Ranks have other rows of the whole batch than of all parts: rather than exchange them for the loop, nothing is cut.
sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<8x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
!sum = tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>

// CHECK-LABEL: @whole_loop_over_ranks(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: sgd.while(%[[X]])
func.func @whole_loop_over_ranks(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !rows {
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%rows: !rows):
    %sum = sgd.reduce add %rows dimensions = [0] : !rows -> !sum
    %all = sgd.reshard %sum : !sum -> !row
    %every = sgd.broadcast_in_dim %all dims = [1] : !row -> !rows
    // expected-remark @+1 {{needs rows of several parts of 'micro' inside of a loop}}
    %next = arith.subf %rows, %every : !rows
    sgd.yield %next : !rows
  } : (!rows) -> !rows
  return %0 : !rows
}

// -----

sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// A result that coordinates have parts of keeps its padding; one that is computed whole has none.
// CHECK-LABEL: @padded(
// CHECK-SAME: -> (tensor<8x4xf32, #sgd.sharding<@mesh, [{"micro", "data"}, {}]>> {sgd.sharding = {{.*}}, sgd.unpadded_type = tensor<6x4xf32>}, tensor<6x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
func.func @padded(%x: !rows {sgd.sequential_dim = 0 : i64}, %w: !rows) -> (!rows {sgd.unpadded_type = tensor<6x4xf32>}, !rows {sgd.unpadded_type = tensor<6x4xf32>}) {
  %y = math.tanh %x : !rows
  %z = sgd.reverse %w dimensions = [0] : !rows
  // CHECK: %[[Z:.*]] = sgd.reverse
  // CHECK: sgd.slice %[[Z]] starts = [0, 0] limits = [6, 4]
  return %y, %z : !rows, !rows
}

// -----

// Rows of two inputs behind each other are no rows of one part.
sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!both = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>

// CHECK-LABEL: @joined(
// CHECK: sgd.concatenate {{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @joined(%x: !rows {sgd.sequential_dim = 0 : i64}, %y: !rows {sgd.sequential_dim = 0 : i64}) -> !both {
  // expected-remark @+1 {{needs rows of several parts of 'micro', and nothing is computed in parts: 'micro' saves no memory; expected an op on rows of one part; compute parts of the batch apart, or leave 'micro' out}}
  %both = sgd.concatenate %x, %y dimension = 0 : (!rows, !rows) -> !both
  %twice = arith.addf %both, %both : !both
  return %twice : !both
}
