// 28. Within each of two groups, three times eight elements over two ranks become twenty-four
// collective: gather_range over 2 sends 16
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<2x3x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<48xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = sgd.reshape %a : tensor<2x3x8xf32> -> tensor<48xf32>
  return %0 : tensor<48xf32>
}
