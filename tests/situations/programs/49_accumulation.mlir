// 49. A loop that only accumulates a partial value: one all-reduce after it
// collective: all_reduce over 4 sends 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %zero = arith.constant dense<0> : tensor<16xi32>
  %0:2 = sgd.while(%a, %zero) trips 5 do {
  ^bb0(%x: tensor<8x16xi32>, %sum: tensor<16xi32>):
    %1 = sgd.reduce add %x dimensions = [0] : tensor<8x16xi32> -> tensor<16xi32>
    %2 = arith.addi %sum, %1 : tensor<16xi32>
    %3 = arith.addi %x, %x : tensor<8x16xi32>
    sgd.yield %3, %2 : tensor<8x16xi32>, tensor<16xi32>
  } : (tensor<8x16xi32>, tensor<16xi32>) -> (tensor<8x16xi32>, tensor<16xi32>)
  return %0#1 : tensor<16xi32>
}
