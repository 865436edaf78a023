// The same model's error, without a loop.
module {
  sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}

  func.func @first(%w: tensor<8x8xf32> {sgd.name = "params['w1']", sgd.position = 0 : i64},
                   %x: tensor<8x8xf32> {sgd.name = "x", sgd.position = 2 : i64, sgd.global_type = tensor<16x8xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
      attributes {sgd.stage = 0 : i64} {
    %u = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %h = math.tanh %u : tensor<8x8xf32>
    spmd.send %h to stage 1 channel 0 : tensor<8x8xf32>
    return
  }

  func.func @second(%w: tensor<8x4xf32> {sgd.name = "params['w2']", sgd.position = 1 : i64},
                    %y: tensor<8x4xf32> {sgd.name = "y", sgd.position = 3 : i64, sgd.global_type = tensor<16x4xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<f32> {sgd.name = "result['loss']", sgd.position = 0 : i64}) attributes {sgd.stage = 1 : i64} {
    %h = spmd.receive channel 0 from stage 0 : tensor<8x8xf32>
    %p = sgd.dot_general %h, %w batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
    %e = arith.subf %p, %y : tensor<8x4xf32>
    %squares = arith.mulf %e, %e : tensor<8x4xf32>
    %own = sgd.reduce add %squares dimensions = [0, 1] : tensor<8x4xf32> -> tensor<f32>
    %loss = spmd.all_reduce add(%own) <@mesh, {"data"}> : (tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
