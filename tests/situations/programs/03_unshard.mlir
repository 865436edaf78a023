// 3. Unshard: one all-gather
// collective: all_gather over 4 sends 384
// lower bound: 384
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  return %a : tensor<8x16xf32>
}
