// A stacked parameter whose layers an axis in time is asked to cut: stages have layers, parts of a batch have not.
// seed: 595
sgd.mesh @mesh = <["x"=2, "y"=1]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "zb_h2"}
func.func @main(%a0: tensor<6x3x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {?}, {"y"}]>, sgd.sequential_dim = 0 : i64},
    %a1: tensor<96x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", ?}, {}], replicated={"x"}>, sgd.sequential_dim = 0 : i64}) -> (tensor<i32>,
    tensor<6x3x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {?}, {"y"}]>},
    tensor<96x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", ?}, {}], replicated={"x"}>},
    tensor<6x96x3xf32>,
    tensor<1x3x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}, {}]>}) {
  %v0 = arith.constant dense<0> : tensor<i32>
  %v1 = arith.constant dense<0.0> : tensor<6x96x3xf32>
  %v2:4 = sgd.while(%v0, %a0, %a1, %v1) trips 6 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<6x3x3xf32>, %x: tensor<96x3xf32>, %xs: tensor<6x96x3xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<5> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.addi %i, %zero : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 3, 3] : (tensor<6x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
    %w = sgd.reshape %w_row : tensor<1x3x3xf32> -> tensor<3x3xf32>
    %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<96x3xf32>, tensor<3x3xf32> -> tensor<96x3xf32>
    %g = arith.addf %h, %x : tensor<96x3xf32>
    %y = math.tanh %g : tensor<96x3xf32>
    %xs2_row = sgd.reshape %x : tensor<96x3xf32> -> tensor<1x96x3xf32>
    %xs2 = sgd.dynamic_update_slice %xs, %xs2_row, %row, %zero, %zero : (tensor<6x96x3xf32>, tensor<1x96x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x96x3xf32>
    sgd.yield %next, %ws, %y, %xs2 : tensor<i32>, tensor<6x3x3xf32>, tensor<96x3xf32>, tensor<6x96x3xf32>
  } : (tensor<i32>, tensor<6x3x3xf32>, tensor<96x3xf32>, tensor<6x96x3xf32>) -> (tensor<i32>, tensor<6x3x3xf32>, tensor<96x3xf32>, tensor<6x96x3xf32>)
  %v3 = math.tanh %v2#3 : tensor<6x96x3xf32>
  %v4 = sgd.slice %a0 starts = [0, 0, 0] limits = [1, 3, 3] strides = [1, 1, 1] : tensor<6x3x3xf32> -> tensor<1x3x3xf32>
  return %v2#0, %v2#1, %v2#2, %v3, %v4 : tensor<i32>, tensor<6x3x3xf32>, tensor<96x3xf32>, tensor<6x96x3xf32>, tensor<1x3x3xf32>
}
