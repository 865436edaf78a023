// 26. Padding along a sharded dimension: the shift, then the value by index
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<12x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %v = arith.constant dense<7.0> : tensor<f32>
  %0 = sgd.pad %a, %v low = [3, 0] high = [1, 0] interior = [0, 0] : tensor<8x16xf32>, tensor<f32> -> tensor<12x16xf32>
  return %0 : tensor<12x16xf32>
}
