// The same step on one rank, without stages.
func.func @main(%w1: tensor<8x8xf32> {sgd.name = "params['w1']"}, %w2: tensor<8x4xf32> {sgd.name = "params['w2']"}, %x: tensor<16x8xf32> {sgd.name = "x"}, %y: tensor<16x4xf32> {sgd.name = "y"})
    -> (tensor<f32> {sgd.name = "result[0]"}, tensor<8x8xf32> {sgd.name = "result[1]['w1']"}, tensor<8x4xf32> {sgd.name = "result[1]['w2']"}) {
  %one = arith.constant dense<1.0> : tensor<16x8xf32>
  %scale = arith.constant dense<0.03125> : tensor<16x4xf32>
  %rate1 = arith.constant dense<0.1> : tensor<8x8xf32>
  %rate2 = arith.constant dense<0.1> : tensor<8x4xf32>
  %u = sgd.dot_general %x, %w1 batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %h = math.tanh %u : tensor<16x8xf32>
  %p = sgd.dot_general %h, %w2 batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
  %e = arith.subf %p, %y : tensor<16x4xf32>
  %squares = arith.mulf %e, %e : tensor<16x4xf32>
  %loss = sgd.reduce add %squares dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
  %de = arith.mulf %e, %scale : tensor<16x4xf32>
  %dh = sgd.dot_general %de, %w2 batching = [] x [] contracting = [1] x [1] : tensor<16x4xf32>, tensor<8x4xf32> -> tensor<16x8xf32>
  %dw2 = sgd.dot_general %h, %de batching = [] x [] contracting = [0] x [0] : tensor<16x8xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %square = arith.mulf %h, %h : tensor<16x8xf32>
  %slope = arith.subf %one, %square : tensor<16x8xf32>
  %du = arith.mulf %dh, %slope : tensor<16x8xf32>
  %dw1 = sgd.dot_general %x, %du batching = [] x [] contracting = [0] x [0] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  %s1 = arith.mulf %dw1, %rate1 : tensor<8x8xf32>
  %s2 = arith.mulf %dw2, %rate2 : tensor<8x4xf32>
  %n1 = arith.subf %w1, %s1 : tensor<8x8xf32>
  %n2 = arith.subf %w2, %s2 : tensor<8x4xf32>
  return %loss, %n1, %n2 : tensor<f32>, tensor<8x8xf32>, tensor<8x4xf32>
}
