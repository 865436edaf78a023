// 5. From four tiles to two, other ranks and tiles that do not nest
// collective: gather_range over 4 sends 48
// lower bound: 28
sgd.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<9x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<9x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {}]>}) {
  return %a : tensor<9x2xf32>
}
