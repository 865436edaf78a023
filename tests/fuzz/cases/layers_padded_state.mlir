// INTERNAL: input 0 has 256 bytes on rank 5 where 192 are given
// Found by --family layers --seed 3, case 14
// seed: 956
sgd.mesh @mesh = <["x"=8]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}
func.func @main(%a0: tensor<3x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>, sgd.alias_output = 1 : i64, sgd.sequential_dim = 0 : i64},
    %a1: tensor<48x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>, sgd.sequential_dim = 0 : i64},
    %a2: tensor<48x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %a3: tensor<3x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {?}]>, sgd.alias_output = 3 : i64},
    %a4: tensor<4x1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}, {}]>, sgd.alias_output = 8 : i64},
    %a5: tensor<96x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    %a6: tensor<96x1xf32>,
    %a7: tensor<4x1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<i32>,
    tensor<3x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    tensor<i32> {sgd.sharding = #sgd.sharding<@mesh, []>},
    tensor<3x4x4xf32>,
    tensor<3x48x4xf32>,
    tensor<48x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>},
    tensor<3x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    tensor<i32>,
    tensor<4x1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}, {}]>},
    tensor<96x1xf32>,
    tensor<i32>,
    tensor<4x1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}, {}]>},
    tensor<4x96x1xf32>,
    tensor<96x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    tensor<4x1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}, {}]>}) {
  %v0 = arith.constant dense<0> : tensor<i32>
  %v1 = arith.constant dense<0.0> : tensor<3x48x4xf32>
  %v2:4 = sgd.while(%v0, %a0, %a1, %v1) trips 3 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<3x4x4xf32>, %x: tensor<48x4xf32>, %xs: tensor<3x48x4xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<2> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.addi %i, %zero : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %w = sgd.reshape %w_row : tensor<1x4x4xf32> -> tensor<4x4xf32>
    %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<48x4xf32>, tensor<4x4xf32> -> tensor<48x4xf32>
    %g = arith.addf %h, %x : tensor<48x4xf32>
    %y = math.tanh %g : tensor<48x4xf32>
    %xs2_row = sgd.reshape %x : tensor<48x4xf32> -> tensor<1x48x4xf32>
    %xs2 = sgd.dynamic_update_slice %xs, %xs2_row, %row, %zero, %zero : (tensor<3x48x4xf32>, tensor<1x48x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x48x4xf32>
    sgd.yield %next, %ws, %y, %xs2 : tensor<i32>, tensor<3x4x4xf32>, tensor<48x4xf32>, tensor<3x48x4xf32>
  } : (tensor<i32>, tensor<3x4x4xf32>, tensor<48x4xf32>, tensor<3x48x4xf32>) -> (tensor<i32>, tensor<3x4x4xf32>, tensor<48x4xf32>, tensor<3x48x4xf32>)
  %v3 = arith.mulf %a2, %v2#2 : tensor<48x4xf32>
  %v4 = arith.constant dense<0.0> : tensor<3x4x4xf32>
  %v5:5 = sgd.while(%v0, %a0, %v2#3, %v3, %v4) trips 3 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<3x4x4xf32>, %xs: tensor<3x48x4xf32>, %dy: tensor<48x4xf32>, %dws: tensor<3x4x4xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<2> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.subi %last, %i : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %w = sgd.reshape %w_row : tensor<1x4x4xf32> -> tensor<4x4xf32>
    %x_row = sgd.dynamic_slice %xs, %row, %zero, %zero sizes = [1, 48, 4] : (tensor<3x48x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x48x4xf32>
    %x = sgd.reshape %x_row : tensor<1x48x4xf32> -> tensor<48x4xf32>
    %g = sgd.dot_general %dy, %w batching = [] x [] contracting = [1] x [1] : tensor<48x4xf32>, tensor<4x4xf32> -> tensor<48x4xf32>
    %dx = math.tanh %g : tensor<48x4xf32>
    %dw = sgd.dot_general %x, %dy batching = [] x [] contracting = [0] x [0] : tensor<48x4xf32>, tensor<48x4xf32> -> tensor<4x4xf32>
    %dws2_row = sgd.reshape %dw : tensor<4x4xf32> -> tensor<1x4x4xf32>
    %dws2 = sgd.dynamic_update_slice %dws, %dws2_row, %row, %zero, %zero : (tensor<3x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
    sgd.yield %next, %ws, %xs, %dx, %dws2 : tensor<i32>, tensor<3x4x4xf32>, tensor<3x48x4xf32>, tensor<48x4xf32>, tensor<3x4x4xf32>
  } : (tensor<i32>, tensor<3x4x4xf32>, tensor<3x48x4xf32>, tensor<48x4xf32>, tensor<3x4x4xf32>) -> (tensor<i32>, tensor<3x4x4xf32>, tensor<3x48x4xf32>, tensor<48x4xf32>, tensor<3x4x4xf32>)
  %v6 = arith.constant dense<9.000000e-01> : tensor<3x4x4xf32>
  %v7 = arith.mulf %a3, %v6 : tensor<3x4x4xf32>
  %v8 = arith.addf %v7, %v5#4 : tensor<3x4x4xf32>
  %v9 = arith.mulf %v5#4, %v5#4 : tensor<3x4x4xf32>
  %v10 = sgd.reduce add %v9 dimensions = [0, 1, 2] : tensor<3x4x4xf32> -> tensor<f32>
  %v11 = sgd.broadcast_in_dim %v10 dims = [] : tensor<f32> -> tensor<3x4x4xf32>
  %v12 = math.tanh %v11 : tensor<3x4x4xf32>
  %v13 = arith.mulf %v8, %v12 : tensor<3x4x4xf32>
  %v14 = arith.subf %a0, %v13 : tensor<3x4x4xf32>
  %v15 = arith.constant dense<0> : tensor<i32>
  %v16 = arith.constant dense<0.0> : tensor<4x96x1xf32>
  %v17:4 = sgd.while(%v15, %a4, %a5, %v16) trips 4 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<4x1x1xf32>, %x: tensor<96x1xf32>, %xs: tensor<4x96x1xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<3> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.addi %i, %zero : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 1, 1] : (tensor<4x1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1xf32>
    %w = sgd.reshape %w_row : tensor<1x1x1xf32> -> tensor<1x1xf32>
    %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<96x1xf32>, tensor<1x1xf32> -> tensor<96x1xf32>
    %g = arith.addf %h, %x : tensor<96x1xf32>
    %y = math.tanh %g : tensor<96x1xf32>
    %xs2_row = sgd.reshape %x : tensor<96x1xf32> -> tensor<1x96x1xf32>
    %xs2 = sgd.dynamic_update_slice %xs, %xs2_row, %row, %zero, %zero : (tensor<4x96x1xf32>, tensor<1x96x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x96x1xf32>
    sgd.yield %next, %ws, %y, %xs2 : tensor<i32>, tensor<4x1x1xf32>, tensor<96x1xf32>, tensor<4x96x1xf32>
  } : (tensor<i32>, tensor<4x1x1xf32>, tensor<96x1xf32>, tensor<4x96x1xf32>) -> (tensor<i32>, tensor<4x1x1xf32>, tensor<96x1xf32>, tensor<4x96x1xf32>)
  %v18 = arith.constant dense<0.0> : tensor<4x1x1xf32>
  %v19:5 = sgd.while(%v15, %a4, %v17#3, %a6, %v18) trips 4 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<4x1x1xf32>, %xs: tensor<4x96x1xf32>, %dy: tensor<96x1xf32>, %dws: tensor<4x1x1xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<3> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = arith.subi %last, %i : tensor<i32>
    %w_row = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 1, 1] : (tensor<4x1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1xf32>
    %w = sgd.reshape %w_row : tensor<1x1x1xf32> -> tensor<1x1xf32>
    %x_row = sgd.dynamic_slice %xs, %row, %zero, %zero sizes = [1, 96, 1] : (tensor<4x96x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x96x1xf32>
    %x = sgd.reshape %x_row : tensor<1x96x1xf32> -> tensor<96x1xf32>
    %g = sgd.dot_general %dy, %w batching = [] x [] contracting = [1] x [1] : tensor<96x1xf32>, tensor<1x1xf32> -> tensor<96x1xf32>
    %dx = math.tanh %g : tensor<96x1xf32>
    %dw = sgd.dot_general %x, %dy batching = [] x [] contracting = [0] x [0] : tensor<96x1xf32>, tensor<96x1xf32> -> tensor<1x1xf32>
    %dws2_row = sgd.reshape %dw : tensor<1x1xf32> -> tensor<1x1x1xf32>
    %dws2 = sgd.dynamic_update_slice %dws, %dws2_row, %row, %zero, %zero : (tensor<4x1x1xf32>, tensor<1x1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x1xf32>
    sgd.yield %next, %ws, %xs, %dx, %dws2 : tensor<i32>, tensor<4x1x1xf32>, tensor<4x96x1xf32>, tensor<96x1xf32>, tensor<4x1x1xf32>
  } : (tensor<i32>, tensor<4x1x1xf32>, tensor<4x96x1xf32>, tensor<96x1xf32>, tensor<4x1x1xf32>) -> (tensor<i32>, tensor<4x1x1xf32>, tensor<4x96x1xf32>, tensor<96x1xf32>, tensor<4x1x1xf32>)
  %v20 = arith.constant dense<9.000000e-01> : tensor<4x1x1xf32>
  %v21 = arith.mulf %a7, %v20 : tensor<4x1x1xf32>
  %v22 = arith.addf %v21, %v19#4 : tensor<4x1x1xf32>
  %v23 = arith.subf %a4, %v22 : tensor<4x1x1xf32>
  return %v2#0, %v2#1, %v5#0, %v5#1, %v5#2, %v5#3, %v14, %v17#0, %v17#1, %v17#2, %v19#0, %v19#1, %v19#2, %v19#3, %v23 : tensor<i32>, tensor<3x4x4xf32>, tensor<i32>, tensor<3x4x4xf32>, tensor<3x48x4xf32>, tensor<48x4xf32>, tensor<3x4x4xf32>, tensor<i32>, tensor<4x1x1xf32>, tensor<96x1xf32>, tensor<i32>, tensor<4x1x1xf32>, tensor<4x96x1xf32>, tensor<96x1xf32>, tensor<4x1x1xf32>
}
