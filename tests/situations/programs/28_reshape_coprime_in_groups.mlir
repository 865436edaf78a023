// 28. Five pairs become two fives in each of three groups
// collective: gather_range over 2 sends 8
// collective: gather_range over 2 sends 40
// collective: all_gather over 2 sends 60
// lower bound: 90
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a0: tensor<3x5x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}, {}]>}) -> (tensor<3x2x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = sgd.reshape %a0 : tensor<3x5x2xf32> -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
}
