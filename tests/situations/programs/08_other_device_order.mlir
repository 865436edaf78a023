// 8. Same tiles, other order of ranks: a permute
// collective: permute over 4 sends 128
// lower bound: 64
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", "x"}, {}]>}) {
  return %a : tensor<8x16xf32>
}
