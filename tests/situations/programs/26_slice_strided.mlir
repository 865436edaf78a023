// 26. A strided slice sends only the elements that it takes
// collective: gather_range over 4 sends 64
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.slice %a starts = [0, 0] limits = [12, 16] strides = [3, 1] : tensor<16x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
