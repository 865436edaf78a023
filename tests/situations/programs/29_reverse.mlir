// 29. Reversal along a sharded dimension: tiles change places
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reverse %a dimensions = [0, 1] : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
