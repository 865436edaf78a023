// 15. Both operands and the result in two dimensions
// collective: permute over 4 sends 64
// collective: all_gather over 2 sends 64
// collective: reduce_scatter over 2 sends 32
// lower bound: 85
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
