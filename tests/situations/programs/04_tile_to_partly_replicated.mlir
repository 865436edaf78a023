// 4. A tile to a partly replicated one: an all-gather in subgroups
// collective: all_gather over 2 sends 128
// lower bound: 128
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<8x16xf32>
}
