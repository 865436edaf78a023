// 20. A matmul of a tensor with itself: gathered once
// collective: all_gather over 4 sends 384
// lower bound: 112
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dot_general %a, %a batching = [] x [] contracting = [1] x [1] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
