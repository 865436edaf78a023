// Sums that a loop of the program adds up are summands of each coordinate until the loop ends.
// RUN: sgd-opt %s --sgd-shard-sequential --split-input-file | FileCheck %s
// RUN: sgd-opt %s --sgd-shard-sequential=refuse --split-input-file | FileCheck %s

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!gates = tensor<4x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
!both = tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
!matrix = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>

// The backward pass of a recurrent layer: fused gates are parts of one gradient. State of rows is cut.
// CHECK-LABEL: @recurrent(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"micro"}>>
// CHECK: %[[LOOP:.*]]:4 = sgd.while
// CHECK: sgd.dot_general {{.*}} -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"micro"}>>
// CHECK-NOT: sgd.reshard
// CHECK: sgd.yield
// CHECK: sgd.reshard %[[LOOP]]#2 {{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @recurrent(%x: !rows {sgd.sequential_dim = 0 : i64}, %dy: !gates {sgd.sequential_dim = 0 : i64}) -> (!matrix, !matrix) {
  %zero = arith.constant dense<0.0> : !matrix
  %0:4 = sgd.while(%x, %dy, %zero, %zero) trips 3 do {
  ^bb0(%rows: !rows, %gates: !gates, %first: !matrix, %second: !matrix):
    %g = sgd.dot_general %rows, %gates batching = [] x [] contracting = [0] x [0] : !rows, !gates -> !both
    %a = sgd.slice %g starts = [0, 0] limits = [8, 8] strides = [1, 1] : !both -> !matrix
    %b = sgd.slice %g starts = [0, 8] limits = [8, 16] strides = [1, 1] : !both -> !matrix
    %more = arith.addf %first, %a : !matrix
    %less = arith.subf %second, %b : !matrix
    %next = arith.negf %rows : !rows
    sgd.yield %next, %gates, %more, %less : !rows, !gates, !matrix, !matrix
  } : (!rows, !gates, !matrix, !matrix) -> (!rows, !gates, !matrix, !matrix)
  return %0#2, %0#3 : !matrix, !matrix
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>

// Values that all coordinates have are summands of one: the initial value, and what is added in the loop. Factors stay as they are.
// CHECK-LABEL: @whole_addends(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[START:[a-z0-9]+]]: {{.*}}, %[[SCALE:[a-z0-9]+]]: tensor
// CHECK: %[[FIRST:.*]] = sgd.reshard %[[START]] : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"micro"}>>
// CHECK: sgd.while(%[[X]], %[[FIRST]], %[[SCALE]])
// CHECK: %[[SUM:.*]] = sgd.reduce add
// CHECK: %[[FACTOR:.*]] = sgd.reshard %[[S:[a-z0-9]+]] {sgd.factor} :
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[FACTOR]]
// CHECK: %[[MORE:.*]] = arith.addf %{{.*}}, %[[SCALED]]
// CHECK: %[[ONCE:.*]] = sgd.reshard %[[S]] :
// CHECK: arith.addf %[[MORE]], %[[ONCE]]
func.func @whole_addends(%x: !rows {sgd.sequential_dim = 0 : i64}, %start: !row, %scale: !row) -> !row {
  %0:3 = sgd.while(%x, %start, %scale) trips 3 do {
  ^bb0(%rows: !rows, %sum: !row, %s: !row):
    %g = sgd.reduce add %rows dimensions = [0] : !rows -> !row
    %scaled = arith.mulf %g, %s : !row
    %more = arith.addf %sum, %scaled : !row
    %next = arith.addf %more, %s : !row
    sgd.yield %rows, %next, %s : !rows, !row, !row
  } : (!rows, !row, !row) -> (!rows, !row, !row)
  return %0#1 : !row
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>
!wide = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!short = tensor<8x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>
!stack = tensor<3x8x8xbf16, #sgd.sharding<@mesh, [{}, {}, {}]>>
!block = tensor<1x8x8xbf16, #sgd.sharding<@mesh, [{}, {}, {}]>>
!index = tensor<i32, #sgd.sharding<@mesh, []>>

// An accumulator of fewer bits takes rounded summands, and one of many layers is read and written by blocks.
// CHECK-LABEL: @blocks(
// CHECK: sgd.dynamic_slice {{.*}} -> tensor<1x8x8xbf16, #sgd.sharding<@mesh, [{}, {}, {}], unreduced={"micro"}>>
// CHECK: arith.truncf {{.*}}unreduced={"micro"}>> to tensor<8x8xbf16, {{.*}}unreduced={"micro"}>>
// CHECK: sgd.dynamic_update_slice {{.*}} -> tensor<3x8x8xbf16, #sgd.sharding<@mesh, [{}, {}, {}], unreduced={"micro"}>>
func.func @blocks(%x: !rows {sgd.sequential_dim = 0 : i64}, %start: !index, %zero: !index) -> !stack {
  %none = arith.constant dense<0.0> : !stack
  %0:4 = sgd.while(%start, %zero, %x, %none) trips 3 do {
  ^bb0(%i: !index, %z: !index, %rows: !rows, %all: !stack):
    %one = arith.constant dense<1> : !index
    %before = sgd.dynamic_slice %all, %i, %z, %z sizes = [1, 8, 8] : (!stack, !index, !index, !index) -> !block
    %g = sgd.dot_general %rows, %rows batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !wide
    %short = arith.truncf %g : !wide to !short
    %own = sgd.reshape %short : !short -> !block
    %more = arith.addf %before, %own : !block
    %new = sgd.dynamic_update_slice %all, %more, %i, %z, %z : (!stack, !block, !index, !index, !index) -> !stack
    %next = arith.addi %i, %one : !index
    sgd.yield %next, %z, %rows, %new : !index, !index, !rows, !stack
  } : (!index, !index, !rows, !stack) -> (!index, !index, !rows, !stack)
  return %0#3 : !stack
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
!index = tensor<i32, #sgd.sharding<@mesh, []>>

// A loop in a loop passes its sum on; a branch without rows leaves it as it is.
// CHECK-LABEL: @nested(
// CHECK: sgd.while
// CHECK: sgd.while
// CHECK: sgd.case
// CHECK: sgd.yield {{.*}} : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"micro"}>>
// CHECK: sgd.yield {{.*}} : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"micro"}>>
// CHECK: sgd.reshard {{.*}}unreduced={"micro"}>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
func.func @nested(%x: !rows {sgd.sequential_dim = 0 : i64}, %i: !index) -> !row {
  %zero = arith.constant dense<0.0> : !row
  %0:3 = sgd.while(%x, %zero, %i) trips 3 do {
  ^bb0(%rows: !rows, %sum: !row, %which: !index):
    %1:3 = sgd.while(%rows, %sum, %which) trips 2 do {
    ^bb0(%own: !rows, %inner: !row, %w: !index):
      %2 = sgd.case %w(%own, %inner) {
      ^bb0(%r: !rows, %s: !row):
        %g = sgd.reduce add %r dimensions = [0] : !rows -> !row
        %more = arith.addf %s, %g : !row
        sgd.yield %more : !row
      }, {
      ^bb0(%r: !rows, %s: !row):
        sgd.yield %s : !row
      } : (!index, !rows, !row) -> !row
      sgd.yield %own, %2, %w : !rows, !row, !index
    } : (!rows, !row, !index) -> (!rows, !row, !index)
    sgd.yield %rows, %1#1, %which : !rows, !row, !index
  } : (!rows, !row, !index) -> (!rows, !row, !index)
  return %0#1 : !row
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>

// The sum of an input, by which a loop divides another sum, is computed for all rows, before or in the loop.
// CHECK-LABEL: @divided(
// CHECK: ^bb0(%[[R:[a-z0-9]+]]: tensor<4x8xf32, #sgd.sharding<@mesh, [{"micro"}, {}]>>, %[[M:[a-z0-9]+]]: tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>,
// CHECK: sgd.reduce add %[[M]] dimensions = [0] : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
// CHECK: arith.divf {{.*}}unreduced={"micro"}
func.func @divided(%x: !rows {sgd.sequential_dim = 0 : i64}, %mask: !rows {sgd.sequential_dim = 0 : i64}) -> !row {
  %zero = arith.constant dense<0.0> : !row
  %0:3 = sgd.while(%x, %mask, %zero) trips 3 do {
  ^bb0(%rows: !rows, %m: !rows, %sum: !row):
    %g = sgd.reduce add %rows dimensions = [0] : !rows -> !row
    %count = sgd.reduce add %m dimensions = [0] : !rows -> !row
    %mean = arith.divf %g, %count : !row
    %more = arith.addf %sum, %mean : !row
    %next = math.exp %rows : !rows
    sgd.yield %next, %m, %more : !rows, !rows, !row
  } : (!rows, !rows, !row) -> (!rows, !rows, !row)
  return %0#2 : !row
}
