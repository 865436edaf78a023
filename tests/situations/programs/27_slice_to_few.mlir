// 27. A slice to few elements: the rank that has them sends them to those that want them
// collective: gather_range over 4 sends 192
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.slice %a starts = [9, 0] limits = [10, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}
