// 24. Three operands of different sizes, two axes
// collective: gather_range over 4 sends 160
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}, %b: tensor<12x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}, %c: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<24x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) {
  %0 = sgd.concatenate %a, %b, %c dimension = 0 : (tensor<4x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
  return %0 : tensor<24x8xf32>
}
