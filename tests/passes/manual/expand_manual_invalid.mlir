// What cannot be expanded is refused.
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

sgd.mesh @mesh = <["x"=2]>
func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{'sgd.while' is not supported in a manual computation on values that differ between ranks; compute it outside of shard_map}}
    %1 = sgd.while(%a) trips 3 do {
    ^bb0(%b: tensor<4xf32>):
      %2 = math.tanh %b : tensor<4xf32>
      sgd.yield %2 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
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
