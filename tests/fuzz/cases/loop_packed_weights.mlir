// Weights that a loop multiplies by, as they are and transposed, are packed in front of it.
// seed: 5
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<128x512xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %a1: tensor<512x128xf32>) -> (tensor<128x512xf32>) {
  %v0:2 = sgd.while(%a0, %a1) trips 4 do {
  ^bb0(%h: tensor<128x512xf32>, %w: tensor<512x128xf32>):
    %a = sgd.dot_general %h, %w batching = [] x [] contracting = [1] x [0] : tensor<128x512xf32>, tensor<512x128xf32> -> tensor<128x128xf32>
    %scale = arith.constant dense<3.125000e-02> : tensor<128x128xf32>
    %b = arith.mulf %a, %scale : tensor<128x128xf32>
    %c = math.tanh %b : tensor<128x128xf32>
    %d = sgd.dot_general %c, %w batching = [] x [] contracting = [1] x [1] : tensor<128x128xf32>, tensor<512x128xf32> -> tensor<128x512xf32>
    %e = arith.mulf %d, %h : tensor<128x512xf32>
    sgd.yield %e, %w : tensor<128x512xf32>, tensor<512x128xf32>
  } : (tensor<128x512xf32>, tensor<512x128xf32>) -> (tensor<128x512xf32>, tensor<512x128xf32>)
  return %v0#0 : tensor<128x512xf32>
}
