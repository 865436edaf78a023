// Rows that one loop sorts and stacks, and another one reads, iteration by iteration.
// RUN: sgd-opt %s --split-input-file --sgd-block-sorts | FileCheck %s
// RUN: sgd-opt %s --split-input-file --sgd-block-sorts --sgd-shard --sgd-verify-sharding | FileCheck %s --check-prefix=SHARDED

sgd.mesh @mesh = <["x"=4]>

// The second loop reads rows, their order and the counts of keys; it puts rows into the sorted order and back. Bounds of
// groups become comparisons with the sorted keys, which the first loop stacks for that.
// CHECK-LABEL: func.func @layers
// CHECK: sgd.while
// CHECK: %[[SORTED:.*]]:2 = sgd.sort({{.*}}) dimension = 1
// CHECK: sgd.gather {{.*}} operand_batching_dims = array<i64: 0>
// CHECK: sgd.scatter set {{.*}} input_batching_dims = array<i64: 0>
// CHECK: sgd.dynamic_update_slice {{.*}} : (tensor<3x16xi32>
// CHECK: sgd.while
// CHECK: %[[KEYS:.*]] = sgd.reshape %{{.*}} : tensor<1x16xi32> -> tensor<16xi32>
// CHECK: sgd.gather {{.*}} operand_batching_dims = array<i64: 0>
// CHECK: %[[SPREAD:.*]] = sgd.broadcast_in_dim %[[KEYS]] dims = [1] : tensor<16xi32> -> tensor<2x16xi32>
// CHECK: arith.cmpi slt, %[[SPREAD]]
// CHECK: sgd.scatter add {{.*}} input_batching_dims = array<i64: 0>
// Counts of keys and the sum over rows are reduced; no row is exchanged.
// SHARDED-LABEL: func.func @layers
// SHARDED-NOT: sgd.reshard %{{.*}}, #sgd.sharding<@mesh, [{"x"}
// SHARDED: tensor<3x16x5xf32, #sgd.sharding<@mesh, [{}, {"x"}, {}]>>
// SHARDED: return
func.func @layers(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %rows0 = arith.constant dense<0.0> : tensor<3x16x5xf32>
  %order0 = arith.constant dense<0> : tensor<3x16xi32>
  %counts0 = arith.constant dense<0> : tensor<3x2xi32>
  %f:7 = sgd.while(%numbers, %keys, %zero, %x, %rows0, %order0, %counts0) trips 3 do {
  ^bb0(%n: tensor<16xi32>, %k: tensor<16xi32>, %i: tensor<i32>, %h: tensor<16x5xf32>, %rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %low = arith.constant dense<0> : tensor<16xi32>
    %key = arith.maxsi %k, %low : tensor<16xi32>
    %sorted:2 = sgd.sort(%key, %n) dimension = 0 {
    ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
      %less = arith.cmpi slt, %a, %b : i32
      sgd.yield %less : i1
    } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
    %taken = sgd.gather %h, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %y = arith.mulf %taken, %taken : tensor<16x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %none = arith.constant dense<0> : tensor<2xi32>
    %ones = arith.constant dense<1> : tensor<16xi32>
    %sizes = sgd.scatter add %none, %key, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<2xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<2xi32>
    %row = sgd.reshape %taken : tensor<16x5xf32> -> tensor<1x16x5xf32>
    %rows1 = sgd.dynamic_update_slice %rows, %row, %i, %c0, %c0 : (tensor<3x16x5xf32>, tensor<1x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x5xf32>
    %position = sgd.reshape %sorted#1 : tensor<16xi32> -> tensor<1x16xi32>
    %order1 = sgd.dynamic_update_slice %order, %position, %i, %c0 : (tensor<3x16xi32>, tensor<1x16xi32>, tensor<i32>, tensor<i32>) -> tensor<3x16xi32>
    %size = sgd.reshape %sizes : tensor<2xi32> -> tensor<1x2xi32>
    %counts1 = sgd.dynamic_update_slice %counts, %size, %i, %c0 : (tensor<3x2xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %n, %k, %next, %out, %rows1, %order1, %counts1 : tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>
  } : (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>) -> (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>)
  %sum0 = arith.constant dense<0.0> : tensor<2x5xf32>
  %g:6 = sgd.while(%f#4, %f#5, %f#6, %zero, %f#3, %sum0) trips 3 do {
  ^bb0(%rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>, %i: tensor<i32>, %d: tensor<16x5xf32>, %sum: tensor<2x5xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %c2 = arith.constant dense<2> : tensor<i32>
    %index = arith.subi %c2, %i : tensor<i32>
    %row = sgd.dynamic_slice %rows, %index, %c0, %c0 sizes = [1, 16, 5] : (tensor<3x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x5xf32>
    %taken = sgd.reshape %row : tensor<1x16x5xf32> -> tensor<16x5xf32>
    %place = sgd.dynamic_slice %order, %index, %c0 sizes = [1, 16] : (tensor<3x16xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16xi32>
    %positions = sgd.reshape %place : tensor<1x16xi32> -> tensor<16xi32>
    %size = sgd.dynamic_slice %counts, %index, %c0 sizes = [1, 2] : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
    %sizes = sgd.reshape %size : tensor<1x2xi32> -> tensor<2xi32>
    %given = sgd.gather %d, %positions {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %product = arith.mulf %given, %taken : tensor<16x5xf32>
    %ends = sgd.cumulative add %sizes dimension = 0 : tensor<2xi32>
    %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<2xi32> -> tensor<2x16xi32>
    %at = sgd.iota dimension = 1 : tensor<2x16xi32>
    %before = arith.cmpi slt, %at, %spread : tensor<2x16xi32>
    %weight = arith.uitofp %before : tensor<2x16xi1> to tensor<2x16xf32>
    %part = sgd.dot_general %weight, %product batching = [] x [] contracting = [1] x [0] : tensor<2x16xf32>, tensor<16x5xf32> -> tensor<2x5xf32>
    %more = arith.addf %sum, %part : tensor<2x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %back = sgd.scatter add %zeros, %positions, %product {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %rows, %order, %counts, %next, %back, %more : tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>
  } : (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>) -> (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>)
  return %f#3, %g#4, %g#5 : tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Rows of one iteration meet the order of another one.
// CHECK-LABEL: func.func @others
// CHECK: sgd.sort({{.*}}) dimension = 0
// CHECK-NOT: operand_batching_dims = array<i64: 0>
func.func @others(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %rows0 = arith.constant dense<0.0> : tensor<3x16x5xf32>
  %order0 = arith.constant dense<0> : tensor<3x16xi32>
  %counts0 = arith.constant dense<0> : tensor<3x2xi32>
  %f:7 = sgd.while(%numbers, %keys, %zero, %x, %rows0, %order0, %counts0) trips 3 do {
  ^bb0(%n: tensor<16xi32>, %k: tensor<16xi32>, %i: tensor<i32>, %h: tensor<16x5xf32>, %rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %low = arith.constant dense<0> : tensor<16xi32>
    %key = arith.maxsi %k, %low : tensor<16xi32>
    %sorted:2 = sgd.sort(%key, %n) dimension = 0 {
    ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
      %less = arith.cmpi slt, %a, %b : i32
      sgd.yield %less : i1
    } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
    %taken = sgd.gather %h, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %y = arith.mulf %taken, %taken : tensor<16x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %none = arith.constant dense<0> : tensor<2xi32>
    %ones = arith.constant dense<1> : tensor<16xi32>
    %sizes = sgd.scatter add %none, %key, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<2xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<2xi32>
    %row = sgd.reshape %taken : tensor<16x5xf32> -> tensor<1x16x5xf32>
    %rows1 = sgd.dynamic_update_slice %rows, %row, %i, %c0, %c0 : (tensor<3x16x5xf32>, tensor<1x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x5xf32>
    %position = sgd.reshape %sorted#1 : tensor<16xi32> -> tensor<1x16xi32>
    %order1 = sgd.dynamic_update_slice %order, %position, %i, %c0 : (tensor<3x16xi32>, tensor<1x16xi32>, tensor<i32>, tensor<i32>) -> tensor<3x16xi32>
    %size = sgd.reshape %sizes : tensor<2xi32> -> tensor<1x2xi32>
    %counts1 = sgd.dynamic_update_slice %counts, %size, %i, %c0 : (tensor<3x2xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %n, %k, %next, %out, %rows1, %order1, %counts1 : tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>
  } : (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>) -> (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>)
  %sum0 = arith.constant dense<0.0> : tensor<2x5xf32>
  %g:6 = sgd.while(%f#4, %f#5, %f#6, %zero, %f#3, %sum0) trips 3 do {
  ^bb0(%rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>, %i: tensor<i32>, %d: tensor<16x5xf32>, %sum: tensor<2x5xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %c2 = arith.constant dense<2> : tensor<i32>
    %index = arith.subi %c2, %i : tensor<i32>
    %other = arith.addi %i, %c0 : tensor<i32>
    %row = sgd.dynamic_slice %rows, %index, %c0, %c0 sizes = [1, 16, 5] : (tensor<3x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x5xf32>
    %taken = sgd.reshape %row : tensor<1x16x5xf32> -> tensor<16x5xf32>
    %place = sgd.dynamic_slice %order, %other, %c0 sizes = [1, 16] : (tensor<3x16xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16xi32>
    %positions = sgd.reshape %place : tensor<1x16xi32> -> tensor<16xi32>
    %size = sgd.dynamic_slice %counts, %index, %c0 sizes = [1, 2] : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
    %sizes = sgd.reshape %size : tensor<1x2xi32> -> tensor<2xi32>
    %given = sgd.gather %d, %positions {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %product = arith.mulf %given, %taken : tensor<16x5xf32>
    %ends = sgd.cumulative add %sizes dimension = 0 : tensor<2xi32>
    %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<2xi32> -> tensor<2x16xi32>
    %at = sgd.iota dimension = 1 : tensor<2x16xi32>
    %before = arith.cmpi slt, %at, %spread : tensor<2x16xi32>
    %weight = arith.uitofp %before : tensor<2x16xi1> to tensor<2x16xf32>
    %part = sgd.dot_general %weight, %product batching = [] x [] contracting = [1] x [0] : tensor<2x16xf32>, tensor<16x5xf32> -> tensor<2x5xf32>
    %more = arith.addf %sum, %part : tensor<2x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %back = sgd.scatter add %zeros, %positions, %product {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %rows, %order, %counts, %next, %back, %more : tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>
  } : (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>) -> (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>)
  return %f#3, %g#4, %g#5 : tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// The second loop reads the first row of a stack.
// CHECK-LABEL: func.func @first_row
// CHECK: sgd.sort({{.*}}) dimension = 0
// CHECK-NOT: operand_batching_dims = array<i64: 0>
func.func @first_row(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %rows0 = arith.constant dense<0.0> : tensor<3x16x5xf32>
  %order0 = arith.constant dense<0> : tensor<3x16xi32>
  %counts0 = arith.constant dense<0> : tensor<3x2xi32>
  %f:7 = sgd.while(%numbers, %keys, %zero, %x, %rows0, %order0, %counts0) trips 3 do {
  ^bb0(%n: tensor<16xi32>, %k: tensor<16xi32>, %i: tensor<i32>, %h: tensor<16x5xf32>, %rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %low = arith.constant dense<0> : tensor<16xi32>
    %key = arith.maxsi %k, %low : tensor<16xi32>
    %sorted:2 = sgd.sort(%key, %n) dimension = 0 {
    ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
      %less = arith.cmpi slt, %a, %b : i32
      sgd.yield %less : i1
    } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
    %taken = sgd.gather %h, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %y = arith.mulf %taken, %taken : tensor<16x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %none = arith.constant dense<0> : tensor<2xi32>
    %ones = arith.constant dense<1> : tensor<16xi32>
    %sizes = sgd.scatter add %none, %key, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<2xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<2xi32>
    %row = sgd.reshape %taken : tensor<16x5xf32> -> tensor<1x16x5xf32>
    %rows1 = sgd.dynamic_update_slice %rows, %row, %i, %c0, %c0 : (tensor<3x16x5xf32>, tensor<1x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x5xf32>
    %position = sgd.reshape %sorted#1 : tensor<16xi32> -> tensor<1x16xi32>
    %order1 = sgd.dynamic_update_slice %order, %position, %i, %c0 : (tensor<3x16xi32>, tensor<1x16xi32>, tensor<i32>, tensor<i32>) -> tensor<3x16xi32>
    %size = sgd.reshape %sizes : tensor<2xi32> -> tensor<1x2xi32>
    %counts1 = sgd.dynamic_update_slice %counts, %size, %i, %c0 : (tensor<3x2xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %n, %k, %next, %out, %rows1, %order1, %counts1 : tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>
  } : (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>) -> (tensor<16xi32>, tensor<16xi32>, tensor<i32>, tensor<16x5xf32>, tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>)
  %sum0 = arith.constant dense<0.0> : tensor<2x5xf32>
  %g:6 = sgd.while(%f#4, %f#5, %f#6, %zero, %f#3, %sum0) trips 3 do {
  ^bb0(%rows: tensor<3x16x5xf32>, %order: tensor<3x16xi32>, %counts: tensor<3x2xi32>, %i: tensor<i32>, %d: tensor<16x5xf32>, %sum: tensor<2x5xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %c2 = arith.constant dense<2> : tensor<i32>
    %index = arith.subi %c2, %i : tensor<i32>
    %row = sgd.dynamic_slice %rows, %index, %c0, %c0 sizes = [1, 16, 5] : (tensor<3x16x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x5xf32>
    %taken = sgd.reshape %row : tensor<1x16x5xf32> -> tensor<16x5xf32>
    %place = sgd.dynamic_slice %order, %index, %c0 sizes = [1, 16] : (tensor<3x16xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16xi32>
    %positions = sgd.reshape %place : tensor<1x16xi32> -> tensor<16xi32>
    %size = sgd.dynamic_slice %counts, %index, %c0 sizes = [1, 2] : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
    %sizes = sgd.reshape %size : tensor<1x2xi32> -> tensor<2xi32>
    %given = sgd.gather %d, %positions {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
    %top = sgd.slice %taken starts = [0, 0] limits = [1, 5] strides = [1, 1] : tensor<16x5xf32> -> tensor<1x5xf32>
    %all = sgd.broadcast_in_dim %top dims = [0, 1] : tensor<1x5xf32> -> tensor<16x5xf32>
    %product = arith.mulf %given, %all : tensor<16x5xf32>
    %ends = sgd.cumulative add %sizes dimension = 0 : tensor<2xi32>
    %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<2xi32> -> tensor<2x16xi32>
    %at = sgd.iota dimension = 1 : tensor<2x16xi32>
    %before = arith.cmpi slt, %at, %spread : tensor<2x16xi32>
    %weight = arith.uitofp %before : tensor<2x16xi1> to tensor<2x16xf32>
    %part = sgd.dot_general %weight, %product batching = [] x [] contracting = [1] x [0] : tensor<2x16xf32>, tensor<16x5xf32> -> tensor<2x5xf32>
    %more = arith.addf %sum, %part : tensor<2x5xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
    %back = sgd.scatter add %zeros, %positions, %product {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %next = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %rows, %order, %counts, %next, %back, %more : tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>
  } : (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>) -> (tensor<3x16x5xf32>, tensor<3x16xi32>, tensor<3x2xi32>, tensor<i32>, tensor<16x5xf32>, tensor<2x5xf32>)
  return %f#3, %g#4, %g#5 : tensor<16x5xf32>, tensor<16x5xf32>, tensor<2x5xf32>
}

// -----

sgd.mesh @mesh = <["x"=3]>

// Three shards do not divide 16 rows: blocks of 6, of which two rows of the last one are padding.
// CHECK-LABEL: func.func @uneven
// CHECK: %[[LAST:.*]] = arith.constant dense<2147483647> : tensor<i32>
// CHECK: sgd.pad %{{.*}}, %[[LAST]] low = [0] high = [2] interior = [0] : tensor<16xi32>, tensor<i32> -> tensor<18xi32>
// CHECK: sgd.sort({{.*}}) dimension = 1 {
// CHECK: (tensor<3x6xi32>, tensor<3x6xi32>) -> (tensor<3x6xi32>, tensor<3x6xi32>)
// CHECK: sgd.gather {{.*}} (tensor<3x6x5xf32>, tensor<3x6xi32>) -> tensor<3x6x5xf32>
// CHECK: sgd.slice {{.*}} : tensor<18x5xf32> -> tensor<16x5xf32>
// CHECK: sgd.scatter set {{.*}} : (tensor<3x6x5xf32>, tensor<3x6xi32>, tensor<3x6x5xf32>) -> tensor<3x6x5xf32>
// SHARDED-LABEL: func.func @uneven
// SHARDED-NOT: sgd.reshard
// SHARDED: return
func.func @uneven(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<16x5xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %y = arith.mulf %taken, %taken : tensor<16x5xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %out : tensor<16x5xf32>
}

// -----

sgd.mesh @mesh = <["x"=3]>

// Keys in another order cannot be padded at their end.
// CHECK-LABEL: func.func @uneven_floats
// CHECK: sgd.sort({{.*}}) dimension = 0
func.func @uneven_floats(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<16x5xf32> {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf ogt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %taken {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %out : tensor<16x5xf32>
}
