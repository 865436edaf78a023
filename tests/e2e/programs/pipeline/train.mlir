// A step of two layers on two stages, by hand: the first stage sends activations of two parts, then receives their gradients.
module {
  sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}

  func.func @first(%w: tensor<8x8xf32> {sgd.name = "params['w1']", sgd.position = 0 : i64, sgd.alias_output = 0 : i64},
                   %x: tensor<8x8xf32> {sgd.name = "x", sgd.position = 2 : i64, sgd.global_type = tensor<16x8xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<8x8xf32> {sgd.name = "result[1]['w1']", sgd.position = 1 : i64}) attributes {sgd.stage = 0 : i64} {
    %zero = arith.constant dense<0> : tensor<i32>
    %none = arith.constant dense<0.0> : tensor<8x8xf32>
    %rate = arith.constant dense<0.1> : tensor<8x8xf32>
    %0:3 = sgd.while (%zero, %w, %x) trips 2 do {
    ^bb0(%i: tensor<i32>, %weights: tensor<8x8xf32>, %rows: tensor<8x8xf32>):
      %c0 = arith.constant dense<0> : tensor<i32>
      %c1 = arith.constant dense<1> : tensor<i32>
      %c4 = arith.constant dense<4> : tensor<i32>
      %at = arith.muli %i, %c4 : tensor<i32>
      %part = sgd.dynamic_slice %rows, %at, %c0 sizes = [4, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %u = sgd.dot_general %part, %weights batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %h = math.tanh %u : tensor<4x8xf32>
      spmd.send %h to stage 1 channel 0 depth 2 : tensor<4x8xf32>
      %next = arith.addi %i, %c1 : tensor<i32>
      sgd.yield %next, %weights, %rows : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>)
    %1:4 = sgd.while (%zero, %w, %x, %none) trips 2 do {
    ^bb0(%i: tensor<i32>, %weights: tensor<8x8xf32>, %rows: tensor<8x8xf32>, %sum: tensor<8x8xf32>):
      %c0 = arith.constant dense<0> : tensor<i32>
      %c1 = arith.constant dense<1> : tensor<i32>
      %c4 = arith.constant dense<4> : tensor<i32>
      %one = arith.constant dense<1.0> : tensor<4x8xf32>
      %dh = spmd.receive channel 1 from stage 1 : tensor<4x8xf32>
      %at = arith.muli %i, %c4 : tensor<i32>
      %part = sgd.dynamic_slice %rows, %at, %c0 sizes = [4, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %u = sgd.dot_general %part, %weights batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %h = math.tanh %u : tensor<4x8xf32>
      %square = arith.mulf %h, %h : tensor<4x8xf32>
      %slope = arith.subf %one, %square : tensor<4x8xf32>
      %du = arith.mulf %dh, %slope : tensor<4x8xf32>
      %dw = sgd.dot_general %part, %du batching = [] x [] contracting = [0] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
      %more = arith.addf %sum, %dw : tensor<8x8xf32>
      %next = arith.addi %i, %c1 : tensor<i32>
      sgd.yield %next, %weights, %rows, %more : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    %2 = spmd.all_reduce add(%1#3) <@mesh, {"data"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = arith.mulf %2, %rate : tensor<8x8xf32>
    %4 = arith.subf %w, %3 : tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }

  func.func @second(%w: tensor<8x4xf32> {sgd.name = "params['w2']", sgd.position = 1 : i64, sgd.alias_output = 1 : i64},
                    %y: tensor<8x4xf32> {sgd.name = "y", sgd.position = 3 : i64, sgd.global_type = tensor<16x4xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<f32> {sgd.name = "result[0]", sgd.position = 0 : i64}, tensor<8x4xf32> {sgd.name = "result[1]['w2']", sgd.position = 2 : i64})
      attributes {sgd.stage = 1 : i64} {
    %zero = arith.constant dense<0> : tensor<i32>
    %none = arith.constant dense<0.0> : tensor<8x4xf32>
    %nothing = arith.constant dense<0.0> : tensor<f32>
    %rate = arith.constant dense<0.1> : tensor<8x4xf32>
    %0:5 = sgd.while (%zero, %w, %y, %none, %nothing) trips 2 do {
    ^bb0(%i: tensor<i32>, %weights: tensor<8x4xf32>, %labels: tensor<8x4xf32>, %sum: tensor<8x4xf32>, %loss: tensor<f32>):
      %c0 = arith.constant dense<0> : tensor<i32>
      %c1 = arith.constant dense<1> : tensor<i32>
      %c4 = arith.constant dense<4> : tensor<i32>
      %scale = arith.constant dense<0.03125> : tensor<4x4xf32>
      %h = spmd.receive channel 0 from stage 0 : tensor<4x8xf32>
      %at = arith.muli %i, %c4 : tensor<i32>
      %part = sgd.dynamic_slice %labels, %at, %c0 sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
      %p = sgd.dot_general %h, %weights batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
      %e = arith.subf %p, %part : tensor<4x4xf32>
      %de = arith.mulf %e, %scale : tensor<4x4xf32>
      %dh = sgd.dot_general %de, %weights batching = [] x [] contracting = [1] x [1] : tensor<4x4xf32>, tensor<8x4xf32> -> tensor<4x8xf32>
      spmd.send %dh to stage 0 channel 1 : tensor<4x8xf32>
      %dw = sgd.dot_general %h, %de batching = [] x [] contracting = [0] x [0] : tensor<4x8xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
      %more = arith.addf %sum, %dw : tensor<8x4xf32>
      %squares = arith.mulf %e, %e : tensor<4x4xf32>
      %own = sgd.reduce add %squares dimensions = [0, 1] : tensor<4x4xf32> -> tensor<f32>
      %further = arith.addf %loss, %own : tensor<f32>
      %next = arith.addi %i, %c1 : tensor<i32>
      sgd.yield %next, %weights, %labels, %more, %further : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>
    } : (tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>)
    %1:2 = spmd.all_reduce add(%0#3, %0#4) <@mesh, {"data"}> : (tensor<8x4xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<f32>)
    %2 = arith.mulf %1#0, %rate : tensor<8x4xf32>
    %3 = arith.subf %w, %2 : tensor<8x4xf32>
    return %1#1, %3 : tensor<f32>, tensor<8x4xf32>
  }
}
