// What loops over the sequential axis read, leave and give back.
// RUN: sgd-opt %s --sgd-form-loops --split-input-file | FileCheck %s

sgd.mesh @mesh = <["micro"=2, "data"=2]> {sgd.sequential = #sgd<axis"micro"=2>}

// The number of a row: that of the iteration's block, and of the rank in it.
// CHECK-LABEL: @row_numbers(
// CHECK-SAME: -> (tensor<8xi32> {sgd.blocks = array<i64: 2>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>})
func.func @row_numbers() -> (tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro", "data"}]>}) {
  // CHECK: sgd.while
  // CHECK: ^bb0(%[[I:.*]]: tensor<i32>
  // CHECK: %[[TWO:.*]] = arith.constant dense<2> : tensor<i32>
  // CHECK: %[[BLOCK:.*]] = arith.muli %[[I]], %[[TWO]]
  // CHECK: %[[RANK:.*]] = spmd.partition_id <@mesh, {"data"}>
  // CHECK: arith.addi %[[BLOCK]], %[[RANK]]
  %id = spmd.partition_id <@mesh, {"micro", "data"}> : tensor<i32>
  %four = arith.constant dense<4> : tensor<i32>
  %first = arith.muli %id, %four : tensor<i32>
  %iota = sgd.iota dimension = 0 : tensor<4xi32>
  %offset = sgd.broadcast_in_dim %first dims = [] : tensor<i32> -> tensor<4xi32>
  %rows = arith.addi %iota, %offset : tensor<4xi32>
  return %rows : tensor<4xi32>
}

// All rows, for something that is computed once: stacked where they belong.
// CHECK-LABEL: @all_rows
func.func @all_rows(%x: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: %[[LOOP:.*]]:3 = sgd.while
  // CHECK: %[[E:.*]] = math.exp
  // CHECK: sgd.dynamic_update_slice %{{.*}}, %[[E]], %{{.*}} : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  // CHECK: %[[SORTED:.*]] = sgd.reverse %[[LOOP]]#{{[0-9]}} dimensions = [0]
  // CHECK: return %[[SORTED]]
  %e = math.exp %x : tensor<2x4xf32>
  %all = spmd.all_gather(%e) dims = [0] <@mesh, {"micro"}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %sorted = sgd.reverse %all dimensions = [0] : tensor<4x4xf32>
  return %sorted : tensor<4x4xf32>
}

// All rows of an argument are the argument.
// CHECK-LABEL: @all_rows_of_argument(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>
// CHECK: sgd.reverse %[[X]]
func.func @all_rows_of_argument(%x: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<4x4xf32> {
  %all = spmd.all_gather(%x) dims = [0] <@mesh, {"micro"}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %sorted = sgd.reverse %all dimensions = [0] : tensor<4x4xf32>
  return %sorted : tensor<4x4xf32>
}

// What each part of the batch has alike is computed once, and given back as often as there are parts.
// CHECK-LABEL: @alike(
// CHECK-NOT: sgd.while
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[BOTH:.*]] = sgd.broadcast_in_dim %[[E]] dims = [1, 2] : tensor<2x4xf32> -> tensor<2x2x4xf32>
// CHECK: sgd.reshape %[[BOTH]] : tensor<2x2x4xf32> -> tensor<4x4xf32>
func.func @alike(%x: tensor<2x4xf32>) -> (tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %e = math.exp %x : tensor<2x4xf32>
  return %e : tensor<2x4xf32>
}

// The gradient of a table's rows: scattered onto the accumulator, not onto zeros that are then added to it.
// CHECK-LABEL: @table
func.func @table(%i: tensor<2x1xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>},
                 %g: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<100x4xf32> {
  // CHECK: ^bb0({{.*}}, %[[SUM:[a-z0-9]*]]: tensor<100x4xf32>):
  // CHECK: sgd.scatter add %[[SUM]]
  // CHECK-NOT: arith.addf
  // CHECK: sgd.yield
  %zero = arith.constant dense<0.0> : tensor<100x4xf32>
  %s = sgd.scatter add %zero, %i, %g {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<100x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<100x4xf32>
  %0 = spmd.all_reduce add(%s) <@mesh, {"micro"}> : (tensor<100x4xf32>) -> tensor<100x4xf32>
  return %0 : tensor<100x4xf32>
}

// A loop of the program takes the number of the part from outside.
// CHECK-LABEL: @inner_loop
func.func @inner_loop(%x: tensor<2xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}) -> (tensor<2xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}) {
  // CHECK: sgd.while({{.*}}) trips 2 do {
  // CHECK: ^bb0(%[[I:[a-z0-9]*]]: tensor<i32>
  // CHECK: sgd.while(%{{.*}}, %[[I]]) trips 3 do {
  // CHECK: ^bb0(%{{.*}}: tensor<2xi32>, %[[OWN:[a-z0-9]*]]: tensor<i32>):
  // CHECK: sgd.broadcast_in_dim %[[OWN]]
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<2xi32>):
    %id = spmd.partition_id <@mesh, {"micro"}> : tensor<i32>
    %ids = sgd.broadcast_in_dim %id dims = [] : tensor<i32> -> tensor<2xi32>
    %next = arith.addi %a, %ids : tensor<2xi32>
    sgd.yield %next : tensor<2xi32>
  } : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// So do branches.
// CHECK-LABEL: @branches
func.func @branches(%i: tensor<i32>, %x: tensor<2xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}, %w: tensor<4xi32>) -> (tensor<2xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}) {
  // CHECK: sgd.while({{.*}}) trips 2 do {
  // CHECK: ^bb0(%[[I:[a-z0-9]*]]: tensor<i32>
  // CHECK: sgd.case %{{.*}}(%{{.*}}, %{{.*}}, %[[I]]) {
  // CHECK: ^bb0(%{{.*}}: tensor<2xi32>, %[[W:[a-z0-9]*]]: tensor<4xi32>, %[[OWN:[a-z0-9]*]]: tensor<i32>):
  // CHECK: %[[FIRST:.*]] = arith.muli %[[OWN]]
  // CHECK: sgd.dynamic_slice %[[W]], %[[FIRST]] sizes = [2]
  // CHECK: ^bb0({{.*}}tensor<i32>):
  %0 = sgd.case %i (%x, %w) {
  ^bb0(%a: tensor<2xi32>, %b: tensor<4xi32>):
    %own = spmd.shard_slice %b dim = 0 <@mesh, {"micro"}> : tensor<4xi32> -> tensor<2xi32>
    %sum = arith.addi %a, %own : tensor<2xi32>
    sgd.yield %sum : tensor<2xi32>
  }, {
  ^bb0(%a: tensor<2xi32>, %b: tensor<4xi32>):
    sgd.yield %a : tensor<2xi32>
  } : (tensor<i32>, tensor<2xi32>, tensor<4xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// What a loop of the program adds up from zeros is added to the accumulator: the loop begins with it. A loop that subtracts its sum from something does not.
// CHECK-LABEL: @added_up(
// CHECK: ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<8x4xf32>, %[[SUM:.*]]: tensor<4xf32>, %[[OTHER:.*]]: tensor<4xf32>):
// CHECK: %[[LOOP:.*]]:3 = sgd.while(%{{.*}}, %[[SUM]], %{{.*}}) trips 3
// CHECK: %[[MORE:.*]] = arith.addf %[[OTHER]], %[[LOOP]]#2
// CHECK: sgd.yield %{{.*}}, %{{.*}}, %[[LOOP]]#1, %[[MORE]]
func.func @added_up(%x: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0:3 = sgd.while(%x, %zero, %zero) trips 3 do {
  ^bb0(%rows: tensor<2x4xf32>, %sum: tensor<4xf32>, %other: tensor<4xf32>):
    %g = sgd.reduce add %rows dimensions = [0] : tensor<2x4xf32> -> tensor<4xf32>
    %more = arith.addf %sum, %g : tensor<4xf32>
    %flipped = arith.subf %g, %other : tensor<4xf32>
    sgd.yield %rows, %more, %flipped : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = spmd.all_reduce add(%0#1) <@mesh, {"micro"}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = spmd.all_reduce add(%0#2) <@mesh, {"micro"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
