// 9. Two dimensions move at once
// collective: all_to_all over 4 sends 192
// lower bound: 192
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<8x8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"x", "y"}]>}) {
  return %a : tensor<8x8x4xf32>
}
