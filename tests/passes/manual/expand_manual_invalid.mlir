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
func.func @pad(%x: tensor<8xf32>, %v: tensor<2xf32>) -> tensor<10xf32> {
  %0 = sgd.manual_computation(%x, %v) in [#sgd.sharding<@mesh, [{"x"}]>, #sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<1xf32>):
    %c = sgd.reshape %b : tensor<1xf32> -> tensor<f32>
    // expected-error@+1 {{pads with a value that differs between the ranks of a manual computation}}
    %d = sgd.pad %a, %c low = [1] high = [0] interior = [0] : tensor<4xf32>, tensor<f32> -> tensor<5xf32>
    sgd.yield %d : tensor<5xf32>
  } : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
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
