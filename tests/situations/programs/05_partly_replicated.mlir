// 5. From four tiles to two on other ranks: a permute, then a gather in subgroups
// collective: permute over 4 sends 16
// collective: all_gather over 2 sends 16
// lower bound: 24
sgd.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {}]>}) {
  return %a : tensor<8x2xf32>
}
