// 3. Five rows on four ranks, one of which has none, become whole
// collective: gather_range over 4 sends 72
// lower bound: 45
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  return %a : tensor<5x3xf32>
}
