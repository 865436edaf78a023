// 49. A loop that only accumulates a partial value: one all-reduce after it
// collective: all_reduce over 4 sends 1536
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0:2 = sgd.while(%a, %zero) trips 5 do {
  ^bb0(%x: tensor<8x16xf32>, %sum: tensor<16x16xf32>):
    %half = arith.constant dense<0.5> : tensor<8x16xf32>
    %1 = sgd.dot_general %x, %x batching = [] x [] contracting = [0] x [0] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    %2 = arith.addf %sum, %1 : tensor<16x16xf32>
    %3 = arith.mulf %x, %half : tensor<8x16xf32>
    sgd.yield %3, %2 : tensor<8x16xf32>, tensor<16x16xf32>
  } : (tensor<8x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>)
  return %0#1 : tensor<16x16xf32>
}
