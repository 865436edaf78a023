// 1. Rows become columns: one all-to-all
// collective: all_to_all over 4 sends 96
// lower bound: 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) {
  return %a : tensor<8x16xf32>
}
