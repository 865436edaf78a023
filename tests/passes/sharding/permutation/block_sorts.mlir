// Rows that are sorted by group and put back are sorted shard by shard.
// RUN: sgd-opt %s --split-input-file --sgd-block-sorts | FileCheck %s
// RUN: sgd-opt %s --split-input-file --sgd-block-sorts --sgd-shard --sgd-verify-sharding | FileCheck %s --check-prefix=SHARDED

sgd.mesh @mesh = <["x"=4]>

// Sorted by expert, multiplied by the expert's weights, put back by the inverse permutation.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[KEYS:.*]] = sgd.reshape %{{.*}} : tensor<16xi32> -> tensor<4x4xi32>
// CHECK: %[[NUMBERS:.*]] = sgd.reshape %{{.*}} : tensor<16xi32> -> tensor<4x4xi32>
// CHECK: %[[SORTED:.*]]:2 = sgd.sort(%[[KEYS]], %[[NUMBERS]]) dimension = 1
// CHECK: %[[ROWS:.*]] = sgd.reshape %[[SORTED]]#0 : tensor<4x4xi32> -> tensor<16xi32>
// CHECK: %[[ORDER:.*]] = sgd.reshape %[[SORTED]]#1 : tensor<4x4xi32> -> tensor<16xi32>
// CHECK: sgd.sort({{.*}}) dimension = 1
// CHECK: %[[TOKENS:.*]] = sgd.divsi %[[ORDER]]
// CHECK: %[[BLOCK:.*]] = arith.subi {{.*}} : tensor<4x4xi32>
// CHECK: sgd.gather {{.*}}, %[[BLOCK]] {{.*}} operand_batching_dims = array<i64: 0>{{.*}} : (tensor<4x2x5xf32>, tensor<4x4xi32>) -> tensor<4x4x5xf32>
// CHECK: %[[SPREAD:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [1] : tensor<16xi32> -> tensor<3x16xi32>
// CHECK: arith.cmpi sge, %[[SPREAD]], %{{.*}} : tensor<3x16xi32>
// CHECK: sgd.gather {{.*}} operand_batching_dims = array<i64: 0>{{.*}} : (tensor<4x4x7xf32>, tensor<4x4xi32>) -> tensor<4x4x7xf32>
// Nothing but the counts of keys is exchanged.
// SHARDED-LABEL: func.func @grouped
// SHARDED-NOT: sgd.reshard
// SHARDED: sgd.reshard %{{.*}} : tensor<3xi32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
// SHARDED-NOT: sgd.reshard
// SHARDED: return
func.func @grouped(%x: tensor<8x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %scores: tensor<8x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<3x5x7xf32>) -> (tensor<16x7xf32>, tensor<3xi32>) {
  %values, %experts = sgd.top_k %scores k = 2 : (tensor<8x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %keys = sgd.reshape %experts : tensor<8x2xi32> -> tensor<16xi32>
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %back:2 = sgd.sort(%sorted#1, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %two = arith.constant dense<2> : tensor<16xi32>
  %tokens = sgd.divsi %sorted#1, %two : tensor<16xi32>
  %taken = sgd.gather %x, %tokens {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<8x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %zeros = arith.constant dense<0> : tensor<3xi32>
  %ones = arith.constant dense<1> : tensor<16xi32>
  %sizes = sgd.scatter add %zeros, %keys, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<3xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<3xi32>
  %ends = sgd.cumulative add %sizes dimension = 0 : tensor<3xi32>
  %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<3xi32> -> tensor<3x16xi32>
  %position = sgd.iota dimension = 1 : tensor<3x16xi32>
  %behind = arith.cmpi sle, %spread, %position : tensor<3x16xi32>
  %one = arith.extui %behind : tensor<3x16xi1> to tensor<3x16xi32>
  %row = sgd.reduce add %one dimensions = [0] : tensor<3x16xi32> -> tensor<16xi32>
  %groups = sgd.iota dimension = 0 : tensor<3xi32>
  %y = sgd.grouped_dot %taken, %w rows = %row groups = %groups : (tensor<16x5xf32>, tensor<3x5x7xf32>, tensor<16xi32>, tensor<3xi32>) -> tensor<16x7xf32>
  %out = sgd.gather %y, %back#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 7>} : (tensor<16x7xf32>, tensor<16xi32>) -> tensor<16x7xf32>
  return %out, %sizes : tensor<16x7xf32>, tensor<3xi32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Put back by a scatter; the sum over rows does not depend on their order either.
// CHECK-LABEL: func.func @scattered
// CHECK: sgd.sort({{.*}}) dimension = 1
// CHECK: sgd.gather {{.*}} operand_batching_dims = array<i64: 0>
// CHECK: sgd.scatter set {{.*}} input_batching_dims = array<i64: 0>{{.*}} : (tensor<4x4x5xf32>, tensor<4x4xi32>, tensor<4x4x5xf32>) -> tensor<4x4x5xf32>
// SHARDED-LABEL: func.func @scattered
// SHARDED-NOT: sgd.reshard
// SHARDED: sgd.reshard %{{.*}} : tensor<5xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
// SHARDED-NOT: sgd.reshard
// SHARDED: return
func.func @scattered(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16x5xf32>, tensor<5xf32>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf ogt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %weights = sgd.broadcast_in_dim %sorted#0 dims = [0] : tensor<16xf32> -> tensor<16x5xf32>
  %y = arith.mulf %taken, %weights : tensor<16x5xf32>
  %sum = sgd.reduce add %y dimensions = [0] : tensor<16x5xf32> -> tensor<5xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %out, %sum : tensor<16x5xf32>, tensor<5xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// The first rows are those of the smallest keys.
// CHECK-LABEL: func.func @first
// CHECK: sgd.sort({{.*}}) dimension = 0
func.func @first(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<4x5xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %first = sgd.slice %taken starts = [0, 0] limits = [4, 5] strides = [1, 1] : tensor<16x5xf32> -> tensor<4x5xf32>
  return %first : tensor<4x5xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Each row is weighted by its position: the rank of its key.
// CHECK-LABEL: func.func @weighted
// CHECK: sgd.sort({{.*}}) dimension = 0
// CHECK-NOT: operand_batching_dims = array<i64: 0>
func.func @weighted(%x: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
  %position = arith.sitofp %numbers : tensor<16xi32> to tensor<16xf32>
  %y = arith.mulf %taken, %position : tensor<16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>) -> tensor<16xf32>
  return %out : tensor<16xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Positions in the sorted order are compared with numbers of rows: which rows stay where they were depends on the order.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: sgd.sort({{.*}}) dimension = 0
func.func @stays(%x: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32>, tensor<16xi1>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %back:2 = sgd.sort(%sorted#1, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
  %y = arith.mulf %taken, %taken : tensor<16xf32>
  %out = sgd.gather %y, %back#1 {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
  %stays = arith.cmpi eq, %back#1, %numbers : tensor<16xi32>
  return %out, %stays : tensor<16xf32>, tensor<16xi1>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A key may be negative: the rows before those of group 0 are in no group.
// CHECK-LABEL: func.func @negative
// CHECK: sgd.sort({{.*}}) dimension = 0
func.func @negative(%x: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %keys: tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %zeros = arith.constant dense<0> : tensor<3xi32>
  %ones = arith.constant dense<1> : tensor<16xi32>
  %sizes = sgd.scatter add %zeros, %keys, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<3xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<3xi32>
  %ends = sgd.cumulative add %sizes dimension = 0 : tensor<3xi32>
  %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<3xi32> -> tensor<3x16xi32>
  %position = sgd.iota dimension = 1 : tensor<3x16xi32>
  %behind = arith.cmpi sle, %spread, %position : tensor<3x16xi32>
  %one = arith.uitofp %behind : tensor<3x16xi1> to tensor<3x16xf32>
  %row = sgd.reduce add %one dimensions = [0] : tensor<3x16xf32> -> tensor<16xf32>
  %out0 = arith.constant dense<0.0> : tensor<16xf32>
  %out = sgd.scatter set %out0, %sorted#1, %row {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>) -> tensor<16xf32>
  return %out : tensor<16xf32>
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=4>}

// Parts of the batch are sorted one after the other.
// CHECK-LABEL: func.func @parts
// CHECK: sgd.sort({{.*}}) dimension = 1 {
// CHECK: tensor<4x4xf32>
func.func @parts(%keys: tensor<16xf32> {sgd.sequential_dim = 0 : i64}) -> tensor<16xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %sorted#0 {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>) -> tensor<16xf32>
  return %out : tensor<16xf32>
}
