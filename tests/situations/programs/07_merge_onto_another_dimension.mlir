// 7. Two dimensions merge onto another: all-to-all, never a full gather
// collective: all_to_all over 4 sends 48
// lower bound: 48
sgd.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<4x4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}, {"z"}]>}) -> (tensor<4x4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"z", "x", "y"}]>}) {
  return %a : tensor<4x4x8xf32>
}
