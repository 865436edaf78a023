// 28. Forty elements over three ranks become five rows of eight over three
// collective: gather_range over 3 sends 32
sgd.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<40x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x8x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0 = sgd.reshape %a : tensor<40x2xf32> -> tensor<5x8x2xf32>
  return %0 : tensor<5x8x2xf32>
}
