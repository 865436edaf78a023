// 28. Five rows of eight over two ranks become forty elements over two: four of them move
// collective: gather_range over 2 sends 16
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<5x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<40xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  %0 = sgd.reshape %a : tensor<5x8xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
