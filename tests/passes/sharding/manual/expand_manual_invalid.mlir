// Refuses manual computations that cannot be expanded.
// RUN: sgd-opt %s --sgd-expand-manual --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @index_of_a_free_axis(%x: tensor<8xi32>) -> tensor<8xi32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xi32>):
    %i = spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
    // expected-error@+1 {{depends on the rank's index along the axis "y", which is not manual here; name it among the axes of shard_map}}
    %b = sgd.broadcast_in_dim %i dims = [] : tensor<i32> -> tensor<4xi32>
    sgd.yield %b : tensor<4xi32>
  } : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @index_of_a_free_axis_in_a_loop(%x: tensor<8xi32>) -> tensor<8xi32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xi32>):
    %i = spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
    %1:2 = sgd.while(%a, %i) trips 3 do {
    ^bb0(%b: tensor<4xi32>, %j: tensor<i32>):
      // expected-error@+1 {{depends on the rank's index along the axis "y", which is not manual here; name it among the axes of shard_map}}
      %2 = sgd.broadcast_in_dim %j dims = [] : tensor<i32> -> tensor<4xi32>
      %3 = arith.addi %b, %2 : tensor<4xi32>
      sgd.yield %3, %j : tensor<4xi32>, tensor<i32>
    } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
    sgd.yield %1#0 : tensor<4xi32>
  } : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @index_of_a_free_axis_as_result(%x: tensor<8xi32>) -> tensor<i32> {
  // expected-error@+1 {{depends on the rank's index along the axis "y", which is not manual here; name it among the axes of shard_map}}
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, []>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xi32>):
    %i = spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
    %1:2 = sgd.while(%a, %i) trips 3 do {
    ^bb0(%b: tensor<4xi32>, %j: tensor<i32>):
      %2 = arith.addi %b, %b : tensor<4xi32>
      sgd.yield %2, %j : tensor<4xi32>, tensor<i32>
    } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
    sgd.yield %1#1 : tensor<i32>
  } : (tensor<8xi32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @nested(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{is manual over an axis that is manual around it already}}
    %1 = sgd.manual_computation(%a) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
    ^bb1(%b: tensor<2xf32>):
      sgd.yield %b : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
