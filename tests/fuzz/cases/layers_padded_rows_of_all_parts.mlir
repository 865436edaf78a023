// the SPMD level, result 2, rank 0, element [0, 0] of its shard: 0.903108716 instead of 0.894460499 (+- 1.86e-05)
// Found by --family layers --seed 1, case 90
// seed: 0
sgd.mesh @mesh = <["x"=2, "y"=4]> {sgd.sequential = #sgd<axis"micro"=4>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "gpipe"}
func.func @main(%a0: tensor<2x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    %a1: tensor<24x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>, sgd.sequential_dim = 1 : i64}) -> (tensor<i32>,
    tensor<2x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    tensor<24x4xf32>,
    tensor<2x24x4xf32>) {
  %v0 = arith.constant dense<0> : tensor<i32>
  %v1 = sgd.reverse %a0 dimensions = [0] : tensor<2x4x4xf32>
  %v2 = arith.constant dense<0.0> : tensor<2x24x4xf32>
  %v3:4 = sgd.while(%v0, %v1, %a1, %v2) trips 2 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<2x4x4xf32>, %x: tensor<24x4xf32>, %xs: tensor<2x24x4xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.addi %i, %zero : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 4, 4] : (tensor<2x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %w = sgd.reshape %w_row : tensor<1x4x4xf32> -> tensor<4x4xf32>
    %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<24x4xf32>, tensor<4x4xf32> -> tensor<24x4xf32>
    %g = arith.addf %h, %x : tensor<24x4xf32>
    %y = math.tanh %g : tensor<24x4xf32>
    %xs2_row = sgd.reshape %x : tensor<24x4xf32> -> tensor<1x24x4xf32>
    %xs2 = sgd.dynamic_update_slice %xs, %xs2_row, %row, %zero, %zero : (tensor<2x24x4xf32>, tensor<1x24x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x24x4xf32>
    sgd.yield %next, %ws, %y, %xs2 : tensor<i32>, tensor<2x4x4xf32>, tensor<24x4xf32>, tensor<2x24x4xf32>
  } : (tensor<i32>, tensor<2x4x4xf32>, tensor<24x4xf32>, tensor<2x24x4xf32>) -> (tensor<i32>, tensor<2x4x4xf32>, tensor<24x4xf32>, tensor<2x24x4xf32>)
  %v4 = math.tanh %v3#3 : tensor<2x24x4xf32>
  return %v3#0, %v3#1, %v3#2, %v4 : tensor<i32>, tensor<2x4x4xf32>, tensor<24x4xf32>, tensor<2x24x4xf32>
}
