// 29. Reversal of seven rows over four ranks
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<7x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reverse %a dimensions = [0] : tensor<7x16xf32>
  return %0 : tensor<7x16xf32>
}
