// 28. Three times ten elements become ten times three: no tile of one side is one of the other
// collective: all_to_all over 3 sends 80
// collective: gather_range over 3 sends 16
sgd.mesh @mesh = <["x"=3]>
func.func @main(%a0: tensor<3x1x10xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<10x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reshape %a0 : tensor<3x1x10xf32> -> tensor<10x3xf32>
  return %0 : tensor<10x3xf32>
}
